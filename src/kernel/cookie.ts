/** The cookie that holds a browser's session. */

const name = 'plotbase_session'

/** The session token in a Cookie header. */
export function sessionCookie(header: string | undefined): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const [key, value] = pair.trim().split('=')
    if (key === name && value) return value
  }
  return undefined
}

/** A Set-Cookie header that scripts can't read and other sites can't send. Without a token it takes the cookie away. */
export function setSessionCookie(token: string | undefined, maxAgeSeconds: number, url: string): string {
  const secure = url.startsWith('https:') ? '; Secure' : ''
  const age = token === undefined ? 0 : maxAgeSeconds
  return `${name}=${token ?? ''}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax${secure}`
}
