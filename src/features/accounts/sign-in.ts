import type { Sql } from '../../kernel/sql.ts'
import { countAttempt, forgiveAttempt, type Guess } from './attempts.ts'
import { type Account, findAccountByEmail, verifyPassword } from './people.ts'

export interface SignIn {
  email: string
  password: string
  /** Where it comes from. */
  address: string
}

/** The person with this e-mail and password; undefined for either being wrong. Every way of signing in goes through here. */
export async function checkPassword(
  sql: Sql,
  { email, password, address }: SignIn,
  now: Date,
): Promise<Account | undefined> {
  const guesses: Guess[] = [
    { kind: 'address', who: address },
    { kind: 'account', who: email },
  ]
  for (const guess of guesses) await countAttempt(sql, guess, now)
  const account = await findAccountByEmail(sql, email)
  if (!(await verifyPassword(account?.passwordHash ?? null, password))) return undefined
  for (const guess of guesses) await forgiveAttempt(sql, guess)
  const { id, name } = account!
  return { id, name, email: account!.email }
}
