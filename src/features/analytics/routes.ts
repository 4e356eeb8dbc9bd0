import { inWorkspace, type Tx } from '../../kernel/context.ts'
import { type Endpoint, endpoint, ok } from '../../kernel/endpoint.ts'
import { oneOfParam, type Params } from '../../kernel/query.ts'
import { dataOf } from '../../kernel/schemas.ts'
import { unitSight } from '../visibility/units.ts'
import { agentFigures, type Counted, pipelineFigures, sourceFigures } from './leads.ts'
import { type Interval, intervals, inventoryFigures, overviewFigures, revenueFigures } from './money.ts'
import { remembered } from './remember.ts'
import { figureSchemas } from './schemas.ts'
import { type AskedScope, type Scope, scopeOf, scopeParams } from './scope.ts'

type Asked = AskedScope & { interval?: Interval }

interface Figures {
  name: keyof typeof figureSchemas
  summary: string
  description: string
  params?: Params
  count(tx: Tx, scope: Scope, asked: Asked): Promise<Counted<unknown>>
}

const all: Figures[] = [
  {
    name: 'overview',
    summary: 'Leads, deals and units at a glance',
    description:
      'Leads that came in these days and what became of them, deals opened and closed, and units as they are now.',
    count: overviewFigures,
  },
  {
    name: 'pipeline',
    summary: 'Leads by stage, and how they move',
    description:
      'Leads that came in these days by their present stage, with what they want to spend; changes of stage in these days; and the median time spent in a stage before leaving it.',
    count: pipelineFigures,
  },
  {
    name: 'sources',
    summary: 'Leads by source',
    description:
      'What came from where in these days, how much of it was won, and the deals closed in these days.',
    count: sourceFigures,
  },
  {
    name: 'agents',
    summary: 'Agents by what they sold',
    description: 'A leaderboard: deals closed in these days, and leads that came in them.',
    count: agentFigures,
  },
  {
    name: 'revenue',
    summary: 'Deals by week or month',
    description:
      'Deals opened and closed. Weeks begin on Monday, in UTC. At most 1,000 weeks or months at once.',
    params: { interval: oneOfParam(intervals, 'How to divide the days; `month` unless given.') },
    count: (tx, scope, { interval = 'month' }) => revenueFigures(tx, scope, interval),
  },
  {
    name: 'inventory',
    summary: 'Units by property and status',
    description:
      'As they are now. With days, only units that were added in them. Leaves out units that the caller may not see.',
    count: inventoryFigures,
  },
]

export const analyticsRoutes: Endpoint[] = all.map(({ name, summary, description, params = {}, count }) =>
  endpoint({
    method: 'GET',
    path: `/v1/analytics/${name}`,
    operationId: `analytics${name[0]!.toUpperCase()}${name.slice(1)}`,
    tag: 'Analytics',
    summary,
    description: `${description} Figures counted from very many records may be up to a minute old.`,
    scopes: ['read:analytics'],
    query: { ...scopeParams, ...params },
    success: { status: 200, description: 'The figures.', schema: dataOf(figureSchemas[name]) },
    handle: ({ ctx, query }) =>
      inWorkspace(ctx, async (tx) => {
        const asked = query as Asked
        const scope = scopeOf(asked, tx.now)
        const key = JSON.stringify([tx.workspaceId, unitSight(tx.viewer), name, asked, scope.end])
        return ok(await remembered(key, () => count(tx, scope, asked)))
      }),
  }),
)
