/*
 * What leaves for other people's servers. The kernel knows the door alone; src/delivery is behind it,
 * so that an operation can send a test without a feature knowing how deliveries work.
 */

export const payloadFormats = ['current', 'legacy'] as const
export type PayloadFormat = (typeof payloadFormats)[number]

/** An event on its way to one receiver. */
export interface Letter {
  url: string
  format: PayloadFormat
  secret: string
  /** Signs as well, while a rotation is under way. */
  previousSecret: string | null
  /** `data` is JSON text: it is sent as it was stored. */
  event: { id: string; name: string; at: string; workspaceId: string; data: string }
}

/** One try, as the list of deliveries shows it. Delivered when there is no error. */
export interface Attempt {
  timestamp: string
  response_code: number | null
  duration_ms: number
  error: string | null
  /** The first 4 KiB of the answer. */
  response_body: string | null
}

export interface Outcome {
  attempt: Attempt
  /** A try before it, on a connection that turned out to be closed. */
  earlier: Attempt[]
  /** What became of it in one word, for metrics. */
  result: string
  /** How long the receiver asked us to wait. */
  retryAfterMs: number | null
}

export interface Courier {
  /** Why nothing may be sent to this address, as the end of a sentence about it; undefined when it may. */
  refusal(url: string): Promise<string | undefined>
  /** Signs and posts once. Never throws: what goes wrong is in the outcome. */
  deliver(letter: Letter): Promise<Outcome>
}
