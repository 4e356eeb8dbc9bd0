import type { Tx } from '../../kernel/context.ts'

/** What other records show of their agent. */
export interface AgentBrief {
  id: string
  name: string
  email: string
}

export async function agentBriefs({ sql, workspaceId }: Tx, ids: string[]): Promise<AgentBrief[]> {
  return sql<AgentBrief[]>`
    select id, name, email from agents where workspace_id = ${workspaceId} and id = any(${ids})`
}
