import type { Tx } from '../../kernel/context.ts'

/** What a lead has where the caller says nothing: people enter leads by hand, programs through the API. */
export const leadDefaults = ({ viewer }: Tx) => ({
  ...viewer.workspace,
  source: viewer.kind === 'session' ? 'manual' : 'api',
})
