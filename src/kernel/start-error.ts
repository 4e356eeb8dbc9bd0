/** The service cannot start. The message is one sentence: what is wrong, and what to do about it. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
