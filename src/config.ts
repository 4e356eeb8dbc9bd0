import { resolve } from 'node:path'
import {
  bytes,
  choiceOf,
  duration,
  durations,
  flagOf,
  listOfValues,
  plain,
  port,
  type Setting,
  urlOf,
  wholeNumber,
} from './config-values.ts'
import { asNetwork } from './kernel/networks.ts'
import { StartError } from './kernel/start-error.ts'

/*
 * The environment, read here and nowhere else. The table in the README is made from this list.
 */
export const settings = {
  HOST: plain('The address to listen on. `127.0.0.1` in local mode, `0.0.0.0` with `DATABASE_URL`.'),
  PORT: port('The production API, reference and authorization endpoints.', 3000),
  SANDBOX_PORT: port('The sandbox, with the same paths.', 3001),
  WORKER_PORT: port(
    'Health and metrics of `plotbase work`; where the API runs in the same process, they are on its port. `0` takes any free port.',
    3002,
  ),
  DATA_DIR: plain('Where the embedded PostgreSQL keeps its data.', './data'),
  DATABASE_URL: urlOf(
    ['postgres:', 'postgresql:'],
    'Use this PostgreSQL (15 or later) instead of the embedded one.',
  ),
  DATABASE_POOL: wholeNumber('Connections to PostgreSQL per process.', 10, { min: 2, max: 200 }),
  REDIS_URL: urlOf(
    ['redis:', 'rediss:'],
    'Lets several processes share one budget of requests. While it is away, each limits on its own.',
  ),
  TRUSTED_PROXIES: listOfValues(
    "Addresses or networks of the proxies in front, separated by commas: the caller's address is then taken from `X-Forwarded-For`.",
    asNetwork,
    'addresses or networks such as 10.1.0.0/16, with commas between them',
  ),
  OVERLOAD_LOOP_DELAY: wholeNumber(
    'Refuse requests with 503 while the process is this many milliseconds late; 0 for never.',
    500,
    { min: 0, max: 60_000 },
  ),
  OVERLOAD_POOL_WAIT: wholeNumber(
    'Refuse requests with 503 while statements wait this many milliseconds for the database; 0 for never.',
    1_000,
    { min: 0, max: 60_000 },
  ),
  SECRET_KEY: plain(
    'Seals webhook secrets and mail in the database; at least 32 random characters, the same on every machine. To change it, put the new one before the old, with a comma. Unless given: made from the password in `DATABASE_URL`, or kept in `DATA_DIR` in local mode.',
  ),
  BASE_URL: urlOf(
    ['http:', 'https:'],
    'How clients reach the production API. Made from host and port unless given.',
  ),
  SANDBOX_URL: urlOf(
    ['http:', 'https:'],
    'How clients reach the sandbox. Made from host and port unless given.',
  ),
  AUTH_URL: urlOf(
    ['http:', 'https:'],
    'How browsers reach the sign-in pages and applications the OAuth endpoints. `BASE_URL` unless given.',
  ),
  SMTP_URL: urlOf(
    ['smtp:', 'smtps:'],
    'The mail server, such as `smtps://user:password@mail.example.com`. Without it mail is kept and shown by `plotbase mail`.',
  ),
  MAIL_FROM: plain('The sender of mail.', 'Plotbase <no-reply@localhost>'),
  LOG_LEVEL: choiceOf(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'How much to log, as JSON lines on standard output.',
    'info',
  ),
  BODY_LIMIT: bytes('The largest request body, such as `512kb` or `2mib`.', 1_048_576, '1mib'),
  WEBHOOK_RETRY_DELAYS: durations(
    'How long to wait before each further attempt to deliver an event. After the last, the webhook is turned off.',
    '5m,30m,2h,24h',
  ),
  WEBHOOK_TIMEOUT: duration('How long a receiver may take in all: connecting, headers and body.', '5s'),
  WEBHOOK_ALLOWED_NETWORKS: listOfValues(
    'Networks that webhooks may lead to although they are loopback, private or reserved, such as `10.1.0.0/16,fd00::/8`. Loopback in local mode on a loopback `HOST`, else none.',
    asNetwork,
    'networks such as 10.1.0.0/16 or fd00::/8, with commas between them',
  ),
  WEBHOOK_CONCURRENCY: wholeNumber('Deliveries under way at once, per process.', 256, {
    min: 1,
    max: 10_000,
  }),
  WEBHOOK_HOST_CONCURRENCY: wholeNumber('Deliveries under way at once to one receiver, per process.', 32, {
    min: 1,
    max: 1_000,
  }),
  IMPORT_LIMIT: bytes('The largest file that can be imported.', 262_144_000, '250mib'),
  BOOTSTRAP_OWNER_EMAIL: plain(
    'The owner of the first workspace. `owner@demo-realty.example` in local mode.',
  ),
  BOOTSTRAP_OWNER_PASSWORD: plain("The owner's password. Made up and printed once unless given."),
  BOOTSTRAP_API_KEY: plain('A `pb_live_…` value to install as an admin key of the first workspace.'),
  BOOTSTRAP_TEST_KEY: plain('A `pb_test_…` value to install in its sandbox, with every scope but `admin`.'),
  DEMO_DATA: flagOf('Fill the first workspace and its sandbox with demo data. `true` in local mode.'),
} satisfies Record<string, Setting<unknown>>

export type Config = ReturnType<typeof loadConfig>

export function loadConfig(env: Record<string, string | undefined>) {
  const read = <T>(name: keyof typeof settings, setting: Setting<T>) => {
    const text = env[name]?.trim()
    if (!text) return setting.fallback
    try {
      return setting.parse(text)
    } catch (error) {
      // The value itself may be a secret, so it is not repeated.
      throw new StartError(`${name} is not valid: it ${(error as Error).message}.`)
    }
  }
  const databaseUrl = read('DATABASE_URL', settings.DATABASE_URL)
  const local = databaseUrl === undefined
  const host = read('HOST', settings.HOST) ?? (local ? '127.0.0.1' : '0.0.0.0')
  const productionPort = read('PORT', settings.PORT)!
  const sandboxPort = read('SANDBOX_PORT', settings.SANDBOX_PORT)!
  const baseUrl = read('BASE_URL', settings.BASE_URL) ?? addressOf(host, productionPort)
  return {
    /** On one machine, with the embedded PostgreSQL. */
    local,
    host,
    ports: { production: productionPort, sandbox: sandboxPort },
    urls: {
      production: baseUrl,
      sandbox: read('SANDBOX_URL', settings.SANDBOX_URL) ?? addressOf(host, sandboxPort),
    },
    authUrl: read('AUTH_URL', settings.AUTH_URL) ?? baseUrl,
    mail: {
      smtpUrl: read('SMTP_URL', settings.SMTP_URL),
      from: read('MAIL_FROM', settings.MAIL_FROM)!,
    },
    dataDir: resolve(read('DATA_DIR', settings.DATA_DIR)!),
    databaseUrl,
    databasePool: read('DATABASE_POOL', settings.DATABASE_POOL)!,
    redisUrl: read('REDIS_URL', settings.REDIS_URL),
    trustedProxies: read('TRUSTED_PROXIES', settings.TRUSTED_PROXIES) ?? [],
    overload: {
      loopDelayMs: read('OVERLOAD_LOOP_DELAY', settings.OVERLOAD_LOOP_DELAY)!,
      poolWaitMs: read('OVERLOAD_POOL_WAIT', settings.OVERLOAD_POOL_WAIT)!,
    },
    secretKey: longEnough(read('SECRET_KEY', settings.SECRET_KEY)),
    logLevel: read('LOG_LEVEL', settings.LOG_LEVEL)!,
    bodyLimitBytes: read('BODY_LIMIT', settings.BODY_LIMIT)!,
    workerPort: read('WORKER_PORT', settings.WORKER_PORT)!,
    webhooks: {
      retryDelaysMs: read('WEBHOOK_RETRY_DELAYS', settings.WEBHOOK_RETRY_DELAYS)!,
      timeoutMs: read('WEBHOOK_TIMEOUT', settings.WEBHOOK_TIMEOUT)!,
      allowedNetworks:
        read('WEBHOOK_ALLOWED_NETWORKS', settings.WEBHOOK_ALLOWED_NETWORKS) ??
        (local && isLoopback(host) ? ['127.0.0.0/8', '::1/128'] : []),
      concurrency: read('WEBHOOK_CONCURRENCY', settings.WEBHOOK_CONCURRENCY)!,
      concurrencyPerHost: read('WEBHOOK_HOST_CONCURRENCY', settings.WEBHOOK_HOST_CONCURRENCY)!,
    },
    importLimitBytes: read('IMPORT_LIMIT', settings.IMPORT_LIMIT)!,
    bootstrap: {
      ownerEmail: read('BOOTSTRAP_OWNER_EMAIL', settings.BOOTSTRAP_OWNER_EMAIL),
      ownerPassword: read('BOOTSTRAP_OWNER_PASSWORD', settings.BOOTSTRAP_OWNER_PASSWORD),
      apiKey: keyWith('pb_live_', 'BOOTSTRAP_API_KEY', read('BOOTSTRAP_API_KEY', settings.BOOTSTRAP_API_KEY)),
      testKey: keyWith(
        'pb_test_',
        'BOOTSTRAP_TEST_KEY',
        read('BOOTSTRAP_TEST_KEY', settings.BOOTSTRAP_TEST_KEY),
      ),
    },
    demoData: read('DEMO_DATA', settings.DEMO_DATA) ?? local,
  }
}

const isLoopback = (host: string) => /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)

// A wildcard address can be listened on, but not called.
const addressOf = (host: string, port: number) =>
  `http://${['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`

function longEnough(key: string | undefined): string | undefined {
  if (key?.split(',').every((part) => part.trim().length >= 32) ?? true) return key
  throw new StartError('SECRET_KEY is not valid: it must have at least 32 characters.')
}

function keyWith(prefix: string, name: string, key: string | undefined): string | undefined {
  if (key === undefined || (key.startsWith(prefix) && /^\w{16,}$/.test(key.slice(prefix.length)))) return key
  throw new StartError(
    `${name} is not valid: it must be ${prefix} followed by at least 16 letters or digits.`,
  )
}
