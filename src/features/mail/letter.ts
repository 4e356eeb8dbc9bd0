import type { Mail } from './outbox.ts'

export interface Letter {
  to: string
  subject: string
  greeting: string
  paragraphs: string[]
  action?: { label: string; link: string }
  closing?: string
}

/** A message in both of its forms, from one text. */
export function letter({ to, subject, greeting, paragraphs, action, closing }: Letter): Mail {
  const lines = [greeting, ...paragraphs]
  const text = [
    ...lines,
    ...(action ? [`${action.label}:\n${action.link}`] : []),
    ...(closing ? [closing] : []),
  ]
  const html = [
    ...lines.map(paragraph),
    ...(action
      ? [
          `<p><a href="${escapeHtml(action.link)}" style="display:inline-block;padding:12px 20px;border-radius:8px;background:#14532d;color:#fff;text-decoration:none">${escapeHtml(action.label)}</a></p>`,
          `<p style="color:#57534e;font-size:14px">Or open this address: ${escapeHtml(action.link)}</p>`,
        ]
      : []),
    ...(closing ? [paragraph(closing)] : []),
  ]
  return {
    to,
    subject,
    text: `${text.join('\n\n')}\n`,
    html: `<div style="font-family:system-ui,sans-serif;line-height:1.5;max-width:32rem;color:#1c1917">${html.join('\n')}</div>\n`,
  }
}

const paragraph = (text: string) => `<p>${escapeHtml(text)}</p>`

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
export const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character]!)
