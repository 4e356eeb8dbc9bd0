import { letter } from '../mail/letter.ts'
import type { Mail } from '../mail/outbox.ts'
import type { Agent } from './schema.ts'

interface Invitation {
  agent: Pick<Agent, 'name' | 'email'>
  workspaceName: string
  link: string
  days: number
}

export const invitationMail = ({ agent, workspaceName, link, days }: Invitation): Mail =>
  letter({
    to: agent.email,
    subject: `Your invitation to ${workspaceName}`,
    greeting: `Hello ${agent.name},`,
    paragraphs: [`You have been invited to join ${workspaceName} on Plotbase.`],
    action: { label: 'Accept the invitation', link },
    closing: `The link works once, and for ${days} days.`,
  })
