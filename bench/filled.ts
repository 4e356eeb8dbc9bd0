import type { BareSettings } from './bare.ts'
import { type BenchData, fill, openBenchDatabase } from './data.ts'
import type { LoadRequest } from './load.ts'
import { newDataDir, type Product, removeDataDir, startProduct, type Variant } from './process.ts'

/** The product, running on data of its own that goes with it. */
export interface FilledProduct {
  product: Product
  data: BenchData
  /** Where the bare servers find the same rows. */
  settings: BareSettings
  headers: Record<string, string>
  close(): Promise<void>
}

export async function startFilledProduct(variant: Variant = {}): Promise<FilledProduct> {
  const dataDir = await newDataDir()
  const env = { DEMO_DATA: 'false', ...variant.env }
  let product: Product | undefined
  const close = async () => {
    await product?.stop()
    await removeDataDir(dataDir)
  }
  try {
    product = await startProduct(dataDir, { ...variant, env })
    const database = await openBenchDatabase(dataDir)
    const data = await fill(database.sql)
    const { host, port, user, database: name } = database.sql.options
    await database.close()
    const address = { socket: { host: host[0]!, port: port[0]!, user, database: name } }
    const headers = { authorization: `Bearer ${product.apiKey}`, 'content-type': 'application/json' }
    return { product, data, settings: { address, workspaceId: data.workspaceId }, headers, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The bytes that the product answers with. */
export async function answerOf({ product, headers }: FilledProduct, request: LoadRequest): Promise<string> {
  const { method, path, body } = request
  const answer = await fetch(product.origin + path, { method, headers, body: body ?? null })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`)
  return text
}
