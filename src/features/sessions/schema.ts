import { environments, plans } from '../../kernel/context.ts'
import { email, text } from '../../kernel/fields.ts'
import { roles } from '../../kernel/scopes.ts'

export const signInFields = {
  email: email({ required: true, example: 'olivia@example.com' }),
  password: text({ required: true, example: 'correct horse battery staple' }, 1_000),
} as const

const person = {
  type: 'object',
  properties: {
    id: { type: 'string', examples: ['acct_01k9x2s5v7x9z1b3d5f7h9k2n4'] },
    name: { type: 'string', examples: ['Olivia Owner'] },
    email: { type: 'string', examples: ['olivia@example.com'] },
  },
  required: ['id', 'name', 'email'],
}

const workspaces = {
  type: 'array',
  description: 'Where the person is active, the one they act in by default first, for each environment.',
  items: {
    type: 'object',
    properties: {
      id: { type: 'string', examples: ['ws_01k9x2s5v7x9z1b3d5f7h9k2n4'] },
      name: { type: 'string', examples: ['Demo Realty'] },
      environment: { type: 'string', enum: environments },
      plan: { type: 'string', enum: plans },
      role: { type: 'string', enum: roles },
      agent_id: { type: 'string', examples: ['agent_01k9x2t6w8y0a2c4e6g8j0m3p5'] },
    },
    required: ['id', 'name', 'environment', 'plan', 'role', 'agent_id'],
  },
}

const expiry = { type: 'string', format: 'date-time', description: '24 hours after the sign-in.' }

export const sessionSchema = {
  type: 'object',
  properties: { expires_at: expiry, person, workspaces },
  required: ['expires_at', 'person', 'workspaces'],
}

export const newSessionSchema = {
  ...sessionSchema,
  properties: {
    token: {
      type: 'string',
      description: 'Send it as `Authorization: Bearer <token>`. Browsers also get it as a cookie.',
      examples: ['pb_sess_…'],
    },
    ...sessionSchema.properties,
  },
  required: ['token', ...sessionSchema.required],
}
