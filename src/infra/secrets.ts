import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Secrets } from '../kernel/context.ts'
import { StartError } from '../kernel/start-error.ts'

const algorithm = 'aes-256-gcm'
const ivLength = 12
const tagLength = 16

/**
 * Seals what must be readable again, such as webhook secrets, so that a dump of the database alone
 * is of no use. The first key seals, all of them open: a new key goes in front of the old one.
 */
export function createSecrets(keys: string[]): Secrets {
  const derived = keys.map((key) => ({
    id: keyId(key),
    key: createHash('sha256').update(`plotbase seal ${key}`).digest(),
  }))
  const [current] = derived
  return {
    seal(text) {
      const iv = randomBytes(ivLength)
      const cipher = createCipheriv(algorithm, current!.key, iv)
      const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${current!.id}.${sealed.toString('base64url')}`
    },
    open(sealed) {
      const [id, encoded] = sealed.split('.')
      const used = derived.find((candidate) => candidate.id === id)
      if (!used) throw new Error('sealed with a key that is not in SECRET_KEY')
      const bytes = Buffer.from(encoded!, 'base64url')
      const decipher = createDecipheriv(algorithm, used.key, bytes.subarray(0, ivLength))
      decipher.setAuthTag(bytes.subarray(-tagLength))
      return Buffer.concat([
        decipher.update(bytes.subarray(ivLength, -tagLength)),
        decipher.final(),
      ]).toString('utf8')
    },
  }
}

const keyId = (key: string) =>
  createHash('sha256').update(`plotbase key id ${key}`).digest('base64url').slice(0, 6)

/**
 * SECRET_KEY where it is given. Otherwise something that every process of the installation has and a
 * dump has not: the password in DATABASE_URL, or in local mode a file beside the data.
 */
export async function secretKeys(config: {
  secretKey: string | undefined
  databaseUrl: string | undefined
  dataDir: string
}): Promise<string[]> {
  if (config.secretKey) return config.secretKey.split(',').map((key) => key.trim())
  const password = config.databaseUrl && new URL(config.databaseUrl).password
  if (password)
    return [Buffer.from(hkdfSync('sha256', password, 'plotbase', 'secret key', 32)).toString('hex')]
  return [await keyFile(config.dataDir)]
}

async function keyFile(dataDir: string): Promise<string> {
  const path = join(dataDir, 'secret.key')
  try {
    await mkdir(dataDir, { recursive: true })
    // "wx" makes one winner of two processes that start at once; the other reads what it wrote.
    await writeFile(path, `${randomBytes(32).toString('hex')}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const { code } = error as { code?: string }
    if (code !== 'EEXIST')
      throw new StartError(
        `The key file ${path} cannot be written (${code}); set SECRET_KEY or another DATA_DIR.`,
      )
  }
  return (await readFile(path, 'utf8')).trim()
}
