/** A fraction of an amount, exact to the cent; a half goes to the even cent, so that many of them do not drift. */
export function shareOf(amount: number, fraction: number): number {
  const scale = 1_000_000n
  const product = BigInt(Math.round(amount * 100)) * BigInt(Math.round(fraction * Number(scale)))
  const cents = product / scale
  const rest = (product % scale) * 2n
  const up = rest > scale || (rest === scale && cents % 2n === 1n)
  return Number(up ? cents + 1n : cents) / 100
}
