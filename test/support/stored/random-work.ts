import { expect } from 'chai'
import { type Random, seededRandom } from '../../contracts/random.ts'
import type { Caller } from '../requests/client.ts'
import { exchange } from '../requests/exchange.ts'
import { multipart, postForm } from '../requests/multipart.ts'
import { type State, storedState } from './state.ts'

/** A client with its name in the bucket, through whichever process. */
export interface Worker {
  id: string
  through: readonly Caller[]
}

interface ModelFile {
  client: Worker
  key: string
  bytes: Buffer
  isPicture: boolean
  /** Its derivatives' keys. */
  derivatives: Set<string>
  /** Queries whose response was not awaited. */
  unknown: Set<string>
  /** Deletes of it that have begun. */
  deletes: number
  deleted: boolean
}

export interface RandomWork {
  clients: readonly Worker[]
  steps: number
  atOnce: number
  seed: number
  picture: Buffer
}

/**
 * Uploads, derives and deletes at random, some at a time, through all processes of each client, and keeps a model of
 * what is there. Every answer is compared with the model.
 *
 * @returns what has to be there when all of it is done
 */
export async function workAtRandom({ clients, steps, atOnce, seed, picture }: RandomWork): Promise<State> {
  const random = seededRandom(seed)
  const all: ModelFile[] = []
  /** Those that something may be done with. */
  const files: ModelFile[] = []
  let left = steps

  async function one(): Promise<void> {
    const dice = random.below(100)
    const file = files.length > 0 ? random.oneOf(files) : undefined
    if (!file || dice < 36) return upload()
    if (dice < 76) return derive(file, queryAtRandom(random), dice < 40)
    if (dice < 96) return remove(file)
    return trespass(file)
  }

  async function upload(): Promise<void> {
    const client = random.oneOf(clients)
    const parts = Array.from({ length: random.below(10) === 0 ? 2 : 1 }, () => {
      const isPicture = random.below(3) > 0
      return { isPicture, bytes: isPicture ? picture : Buffer.from(`wOF2\0\x01\0\0${random.below(1e9)}`) }
    })
    const form = parts.map(({ bytes, isPicture }) => ({
      disposition: `name="file"; filename="a.${isPicture ? 'png' : 'woff2'}"`,
      bytes,
    }))
    const answer = await postForm(random.oneOf(client.through), multipart(form))
    expect(answer.status, 'upload').to.equal(200)
    for (const [i, { s3PathOriginal: key }] of JSON.parse(answer.body.toString()).entries()) {
      const { bytes, isPicture } = parts[i] as (typeof parts)[number]
      const known = { derivatives: new Set<string>(), unknown: new Set<string>(), deletes: 0, deleted: false }
      const file = { client, key, bytes, isPicture, ...known }
      all.push(file)
      files.push(file)
    }
  }

  /** Also of fonts, which cannot be. `leave`: the client hangs up after a moment. */
  async function derive(file: ModelFile, query: string, leave: boolean): Promise<void> {
    const { client, key, isPicture } = file
    const caller = random.oneOf(client.through)
    const leaving = new AbortController()
    if (leave) {
      setTimeout(() => leaving.abort(), random.below(20))
      file.unknown.add(query)
    }
    const path = `${pathOf(caller, key)}?${query}`
    const answer = await exchange(caller, path, { signal: leaving.signal }).catch((error) => {
      if (!leave) throw error
    })
    if (!answer) return
    const wasGoing = file.deletes > 0
    if (!isPicture)
      return expect(answer.status, 'of a font').to.be.oneOf(wasGoing ? [400, 404, 422] : [400, 422]) as never
    expect(answer.status, 'derive').to.be.oneOf(wasGoing ? [200, 404] : [200])
    if (answer.status === 200) file.derivatives.add(JSON.parse(answer.headers.etag ?? ''))
  }

  async function remove(file: ModelFile): Promise<void> {
    const caller = random.oneOf(file.client.through)
    file.deletes += 1
    const { status } = await exchange(caller, `/v1/upload/${file.key}`, {
      method: 'DELETE',
      headers: { Authorization: caller.tokens.secretClientToken },
    })
    // Another one that has begun later may have come to its end before this one was heard.
    expect(status, 'delete').to.be.oneOf(file.deletes > 1 ? [200, 404] : [200])
    if (status === 200) file.deleted = true
    const after = await exchange(caller, pathOf(caller, file.key))
    if (status === 200) expect(after.status, 'after its delete').to.equal(404)
    const at = files.indexOf(file)
    // Some deleted files stay in the list, so that they are requested again.
    if (at !== -1 && random.below(10) > 0) files.splice(at, 1)
  }

  /** Files of another client are not found. */
  async function trespass({ client, key }: ModelFile): Promise<void> {
    const other = random.oneOf(clients.filter((each) => each !== client))
    const caller = random.oneOf(other.through)
    const headers = { Authorization: caller.tokens.secretClientToken }
    const answers = await Promise.all([
      exchange(caller, pathOf(caller, key)),
      exchange(caller, `${pathOf(caller, key)}?w=2`),
      exchange(caller, `/v1/upload/${key}`, { method: 'DELETE', headers }),
    ])
    expect(
      answers.map(({ status }) => status),
      'of somebody else',
    ).to.deep.equal([404, 404, 404])
  }

  const lanes = Array.from({ length: atOnce }, async () => {
    while (left > 0) {
      left -= 1
      await one()
    }
  })
  await Promise.all(lanes)

  expect(all.filter(({ deletes, deleted }) => deletes > 0 && !deleted)).to.deep.equal([])
  const stored = all.filter(({ deletes }) => deletes === 0)
  for (const file of stored) {
    const caller = random.oneOf(file.client.through)
    for (const query of file.isPicture ? file.unknown : []) await derive(file, query, false)
    const { status, body } = await exchange(caller, pathOf(caller, file.key))
    expect(status, 'at the end').to.equal(200)
    expect(body.equals(file.bytes), 'bytes at the end').to.equal(true)
  }
  const states = stored.map(({ client, key, derivatives }) =>
    storedState(client.id, { [key]: [...derivatives].map((each) => each.slice(key.length + 1)) }),
  )
  return {
    files: states.flatMap(({ files }) => files).sort(),
    rows: states.flatMap(({ rows }) => rows).sort(),
  }
}

function queryAtRandom(random: Random): string {
  return [`w=${1 + random.below(4)}`, ...(random.below(2) ? ['f=webp'] : [])].join('&')
}

function pathOf({ tokens }: Caller, key: string): string {
  return `/v1/${key.split('/')[0]}/upload/${tokens.clientToken}/${key}`
}
