import { inWorkspace } from '../../kernel/context.ts'
import { type Endpoint, endpoint, ok, pageOf } from '../../kernel/endpoint.ts'
import { invalidField } from '../../kernel/errors.ts'
import type { PlanWindow } from '../../kernel/limits/plans.ts'
import { remainingIn, type Standing } from '../../kernel/limits/standing.ts'
import { defaultPerPage, maxPerPage } from '../../kernel/list-query.ts'
import { dateParam, integerParam, textParam } from '../../kernel/query.ts'
import { dataOf, listOfData } from '../../kernel/schemas.ts'
import { usagePage } from './queries.ts'
import { RateLimit, Usage } from './schema.ts'

const tag = 'Usage'
// As many days as a month may have: what a dashboard shows first.
const shownDays = 31

export const usageRoutes: Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/v1/rate-limit',
    operationId: 'getRateLimit',
    tag,
    summary: 'See what is left of the limits',
    description:
      'The figures of the workspace at this moment, this request included. `limit` and `remaining` are null where there is no limit.',
    scopes: 'any',
    success: { status: 200, description: 'The plan and its windows.', schema: dataOf(RateLimit) },
    handle: async ({ ctx, standing }) =>
      ok({
        plan: ctx.principal.workspace.plan,
        minute: figures(standing, 'minute'),
        daily: figures(standing, 'day'),
        burst: figures(standing, 'burst'),
      }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/usage',
    operationId: 'listUsage',
    tag,
    summary: 'List requests by day, credential and route',
    description:
      "Newest day first. Days are UTC's. Requests appear a few seconds after they were made; refused ones (429) are not counted.",
    scopes: ['admin'],
    query: {
      from: dateParam(`The first day, ${shownDays} days up to \`to\` unless given.`),
      to: dateParam('The last day, today unless given.'),
      credential: textParam('Only this credential, such as `key_…`.'),
      route: textParam('Only this route, as the answer shows it.'),
      page: integerParam('Which page, from 1.', { min: 1, max: 1_000_000 }),
      per_page: integerParam(`Records on a page, ${defaultPerPage} unless given.`, {
        min: 1,
        max: maxPerPage,
      }),
    },
    success: { status: 200, description: 'A page of usage records.', schema: listOfData(Usage) },
    handle: async ({ ctx, query, url }) => {
      const to = query.to ?? dateOf(ctx.clock.now())
      const from = query.from ?? dateOf(new Date(Date.parse(to) - (shownDays - 1) * 86_400_000))
      if (from > to) throw invalidField('from', 'must not be after to.')
      const { page = 1, per_page: perPage = defaultPerPage, credential, route } = query
      const found = await inWorkspace(ctx, (tx) =>
        usagePage(tx, { from, to, credential, route }, { page, perPage }),
      )
      return pageOf(
        { ...found, query: { page, perPage, cursor: undefined } as never, nextCursor: undefined },
        url,
      )
    },
  }),
]

const dateOf = (time: Date) => time.toISOString().slice(0, 10)

function figures(standing: Standing, name: PlanWindow) {
  const place = standing.budget.windows.findIndex((window) => window.name === name)
  const { limit } = standing.budget.windows[place]!
  const limited = limit !== Infinity
  return {
    limit: limited ? limit : null,
    used: standing.used[place]!,
    remaining: limited ? remainingIn(standing, place) : null,
    reset: new Date(standing.endsAtMs[place]!).toISOString(),
  }
}
