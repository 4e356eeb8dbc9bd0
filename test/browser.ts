import type { FastifyInstance } from 'fastify'

/** What a browser does between two servers: keeps cookies, follows our redirects, sends forms. */
export class Browser {
  readonly #server: FastifyInstance
  readonly #cookies = new Map<string, { name: string; value: string; path: string }>()

  constructor(server: FastifyInstance) {
    this.#server = server
  }

  /** Everything it was ever given as a cookie. */
  readonly seen: string[] = []

  /** Follows redirects until there is a page, or until they lead elsewhere. */
  async go(url: string, form?: Record<string, string>): Promise<Visit> {
    const response = await this.#server.inject({
      method: form ? 'POST' : 'GET',
      url,
      headers: {
        cookie: this.#cookieHeader(url),
        accept: 'text/html',
        ...(form && { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://api.test' }),
      },
      ...(form && { payload: new URLSearchParams(form).toString() }),
    })
    for (const cookie of response.cookies) this.#keep(cookie)
    const { location } = response.headers
    if (response.statusCode >= 300 && response.statusCode < 400 && location) {
      if (!isHere(String(location))) return { status: response.statusCode, at: String(location), html: '' }
      const next = new URL(String(location), 'https://api.test')
      return this.go(next.pathname + next.search)
    }
    return { status: response.statusCode, at: url, html: response.body }
  }

  // A cookie is known by its name and path together: two sign-ins can be under way at once.
  #keep({ name, value, path = '/', expires }: GivenCookie): void {
    const gone = value === '' || (expires && expires.getTime() < 1_000)
    if (gone) this.#cookies.delete(`${name} ${path}`)
    else {
      this.seen.push(value)
      this.#cookies.set(`${name} ${path}`, { name, value, path })
    }
  }

  #cookieHeader(url: string): string {
    return [...this.#cookies.values()]
      .filter(({ path }) => url.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
  }
}

interface GivenCookie {
  name: string
  value: string
  path?: string
  expires?: Date
}

export interface Visit {
  status: number
  at: string
  html: string
}

const isHere = (location: string) => location.startsWith('/') || location.startsWith('https://api.test')
