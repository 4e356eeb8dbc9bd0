import type { Mail } from '../mail/outbox.ts'
import type { Agent } from './schema.ts'

interface Invitation {
  agent: Pick<Agent, 'name' | 'email'>
  workspaceName: string
  link: string
  days: number
}

export function invitationMail({ agent, workspaceName, link, days }: Invitation): Mail {
  const greeting = `Hello ${agent.name},`
  const reason = `you have been invited to join ${workspaceName} on Plotbase.`
  const expiry = `The link works once, and for ${days} days.`
  return {
    to: agent.email,
    subject: `Your invitation to ${workspaceName}`,
    text: `${greeting}\n\n${reason} Accept the invitation here:\n\n${link}\n\n${expiry}\n`,
    html: `<p>${escaped(greeting)}</p><p>${escaped(reason)}</p><p><a href="${escaped(link)}">Accept the invitation</a></p><p>${expiry}</p>`,
  }
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character]!)
