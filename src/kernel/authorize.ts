import type { Principal } from './context.ts'
import { forbidden } from './errors.ts'
import { holds, type Scope } from './scopes.ts'

export const may = (principal: Principal, scope: Scope): boolean => holds(principal.scopes, scope)

export function requireScopes(principal: Principal, needed: readonly Scope[] | 'any' | 'none'): void {
  if (needed === 'any' || needed === 'none') return
  const missing = needed.filter((scope) => !may(principal, scope))
  if (missing.length === 0) return
  throw forbidden(
    `This credential lacks the ${missing.length === 1 ? 'scope' : 'scopes'} ${missing.join(', ')}.`,
  )
}

/** Owners and admins, and credentials with the scope `admin`, see and do everything in their workspace. */
export const isAdmin = (principal: Principal): boolean => principal.scopes.has('admin')
