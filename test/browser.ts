import type { FastifyInstance } from 'fastify'

/** What a browser does between two servers: keeps cookies, follows our redirects, sends forms. */
export class Browser {
  readonly #server: FastifyInstance
  readonly #cookies = new Map<string, { value: string; path: string }>()

  constructor(server: FastifyInstance) {
    this.#server = server
  }

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

  #keep(cookie: { name: string; value: string; path?: string; expires?: Date }): void {
    const gone = cookie.value === '' || (cookie.expires && cookie.expires.getTime() < 1_000)
    if (gone) this.#cookies.delete(cookie.name)
    else this.#cookies.set(cookie.name, { value: cookie.value, path: cookie.path ?? '/' })
  }

  #cookieHeader(url: string): string {
    return [...this.#cookies]
      .filter(([, cookie]) => url.startsWith(cookie.path))
      .map(([name, cookie]) => `${name}=${cookie.value}`)
      .join('; ')
  }
}

export interface Visit {
  status: number
  at: string
  html: string
}

const isHere = (location: string) => location.startsWith('/') || location.startsWith('https://api.test')
