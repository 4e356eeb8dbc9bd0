import type { Logger } from 'pino'
import postgres from 'postgres'
import type { Pool } from '../kernel/sql.ts'

const retryMs = 500

export interface Listening {
  stop(): Promise<void>
}

/**
 * Hears what is notified on a channel for as long as the process lives. The listen() of postgres.js
 * listens again once when its connection breaks and gives up for good when the server is not back
 * by then, so the connection is looked after here. `onNotice` is also called whenever one is made:
 * what was notified in between is unknown.
 */
export function listen(sql: Pool, channel: string, onNotice: () => void, log: Logger): Listening {
  let state: 'listening' | 'trying' | 'away' | 'stopped' = 'away'
  const connection = postgres({
    ...sql.options,
    max: 1,
    idle_timeout: null,
    max_lifetime: null,
    fetch_types: false,
    onnotify: () => onNotice(),
    onclose: () => {
      if (state === 'listening') state = 'away'
    },
  } as never)

  const ensure = async () => {
    if (state !== 'away') return
    state = 'trying'
    try {
      await connection.unsafe(`listen ${channel}`)
      state = 'listening'
      onNotice()
    } catch (error) {
      if (state !== 'trying') return
      state = 'away'
      log.debug({ err: error, channel }, 'could not listen; trying again')
    }
  }
  const timer = setInterval(ensure, retryMs)
  void ensure()
  return {
    stop: async () => {
      state = 'stopped'
      clearInterval(timer)
      await connection.end({ timeout: 1 })
    },
  }
}
