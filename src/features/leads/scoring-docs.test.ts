import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { weights } from './score.ts'

const page = readFileSync(new URL('../../../docs/scoring.md', import.meta.url), 'utf8')

it('docs/scoring.md says what the function does', () => {
  const named = { ...weights.source, ...weights.completeness, ...weights.stage }
  for (const [name, points] of Object.entries(named)) expect(page).toContain(`\`${name}\` ${points}`)
  expect(page).toContain(`both ends ${weights.budget.range}, one end ${weights.budget.oneEnd}`)
  const [now, ...later] = weights.timeline
  expect(page).toContain(`\`immediate\` ${now.points}`)
  for (const { upToMonths, points } of later.slice(0, -1))
    expect(page).toContain(`up to ${upToMonths} months ${points}`)
  expect(page).toContain(`later ${later.at(-1)!.points}`)
  for (const { withinDays, points } of weights.recency)
    expect(page).toContain(`within ${withinDays} days ${points}`)
})
