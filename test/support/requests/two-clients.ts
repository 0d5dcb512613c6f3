import { expect } from 'chai'
import { type Random, seededRandom } from '../../contracts/random.ts'
import type { Caller } from './client.ts'
import { type Answer, exchange } from './exchange.ts'

/** One of two clients whose files the other must never see. */
export interface Side extends Caller {
  id: string
  /** A text in the bytes, names and folders of all files of this client, and of no other client. */
  mark: string
}

interface ModelFile {
  side: Side
  key: string
  sourceName: string
  bytes: Buffer
  /** `kept`: soft-deleted. */
  state: 'stored' | 'kept' | 'gone'
}

interface ModelLink {
  side: Side
  target: string
  usesLeft: number
}

export interface TwoClients {
  sides: readonly [Side, Side]
  steps: number
  seed: number
}

/**
 * Uploads, signs, replays, deletes and restores at random, as either of two clients, with what either of them has: after
 * each step, no answer to the one holds anything of the other.
 */
export async function actAsTwoClients({ sides, steps, seed }: TwoClients): Promise<void> {
  const random: Random = seededRandom(seed)
  const files: ModelFile[] = []
  const links: ModelLink[] = []
  let count = 0

  /** Sends a request of one client, and checks that the response has nothing of the other client. For a link, `as` is its owner. */
  async function ask(as: Side, target: string, call: Parameters<typeof exchange>[2] = {}): Promise<Answer> {
    const answer = await exchange(as, target, call)
    const other = sides[0] === as ? sides[1] : sides[0]
    const all = `${JSON.stringify(answer.rawHeaders)}${answer.body.toString('latin1')}`
    expect(all.includes(other.mark), `${call.method ?? 'GET'} ${target} as ${as.mark}`).to.equal(false)
    return answer
  }
  const asSecret = ({ tokens }: Side, headers: Record<string, string> = {}) => ({
    Authorization: tokens.secretClientToken,
    ...headers,
  })
  const json = { 'Content-Type': 'application/json' }

  function newBytes({ mark }: Side): Buffer {
    count += 1
    return Buffer.from(`${mark} ${count} `.repeat(1 + random.below(50)))
  }

  function remember(side: Side, answer: Answer, bytes: Buffer): void {
    const [record] = JSON.parse(String(answer.body))
    expect(String(record.src)).to.include(side.tokens.clientToken)
    files.push({ side, key: record.s3PathOriginal, sourceName: record.sourceName, bytes, state: 'stored' })
  }

  async function upload(side: Side): Promise<void> {
    const bytes = newBytes(side)
    const answer = await ask(side, `/v1/upload/${side.mark}.txt?path=${side.mark}`, {
      method: 'PUT',
      headers: asSecret(side),
      body: bytes,
    })
    expect(answer.status).to.equal(200)
    remember(side, answer, bytes)
  }

  async function sign(side: Side): Promise<void> {
    const uses = 1 + random.below(2)
    const answer = await ask(side, '/v1/sign', {
      method: 'POST',
      headers: asSecret(side, json),
      body: JSON.stringify({ expiresIn: 600, uses, folder: side.mark }),
    })
    expect(answer.status).to.equal(200)
    const target = String(JSON.parse(String(answer.body)).url).slice(side.url.length)
    links.push({ side, target, usesLeft: uses })
  }

  /** Any caller may use a link: the file belongs to the client that has created the link. */
  async function replay(by: Side): Promise<void> {
    if (links.length === 0) return
    const link = random.oneOf(links)
    const bytes = newBytes(link.side)
    // With a secret that has nothing to do with it, now and then.
    const headers = random.below(2) ? asSecret(by) : {}
    const answer = await ask(link.side, link.target, { method: 'PUT', headers, body: bytes })
    expect(answer.status).to.equal(link.usesLeft > 0 ? 200 : 409)
    if (answer.status !== 200) return
    link.usesLeft -= 1
    remember(link.side, answer, bytes)
    // Changed to the other's, it is no link.
    const forged = link.target.replace(`/${link.side.id}.`, `/${sides.find((one) => one !== link.side)?.id}.`)
    expect((await ask(by, forged, { method: 'PUT', body: 'x' })).status).to.equal(403)
  }

  async function read(as: Side, file: ModelFile): Promise<void> {
    const token = as.tokens.clientToken
    const isOwn = as === file.side
    const targets = [
      `/v1/text/upload/${token}/${file.key}`,
      `/v1/text/upload/${token}/${file.side.mark}/${file.sourceName}?download`,
      `/v1/bucket/${token}/${file.key}`,
      `/v1/text/info/${token}/${file.key}`,
    ]
    const target = random.oneOf(targets)
    // A response may repeat the mark that is in the requested path.
    const { status, body } = isOwn ? await ask(as, target) : await exchange(as, target)
    expect(status, target).to.equal(isOwn && file.state === 'stored' ? 200 : 404)
    if (!isOwn) expect(body.includes(file.bytes)).to.equal(false)
    else if (status === 200 && !target.includes('/info/')) expect(body.equals(file.bytes)).to.equal(true)
  }

  async function archive(as: Side, file: ModelFile): Promise<void> {
    const { body } = await exchange(as, '/v1/zip', {
      method: 'POST',
      headers: asSecret(as, json),
      body: JSON.stringify({ files: [{ path: file.key, type: 'text', name: 'a.txt' }] }),
    })
    const status = as === file.side && file.state === 'stored' ? 'ok' : 'error'
    expect(body.length, status).to.be.above(0)
    // The manifest may have the name, too.
    const [, ...entries] = body.toString('latin1').split('PK\u0001\u0002')
    const isInDirectory = entries.some((entry) => entry.startsWith('a.txt', 42))
    expect(isInDirectory, 'the file is in the archive').to.equal(status === 'ok')
  }

  async function manage(as: Side, file: ModelFile): Promise<void> {
    const isOwn = as === file.side
    const known = isOwn && file.state === 'stored' ? 200 : 404
    const described = await exchange(as, `/v1/files/${file.key}`, { headers: asSecret(as) })
    expect(described.status).to.equal(known)
    const changed = await exchange(as, `/v1/files/${file.key}`, {
      method: 'PATCH',
      headers: asSecret(as, json),
      body: JSON.stringify({ tags: [as.mark] }),
    })
    expect(changed.status).to.equal(known)
    const list = await ask(as, '/v1/files?limit=1000', { headers: asSecret(as) })
    const listed = JSON.parse(String(list.body)).files.map(
      (one: { s3PathOriginal: string }) => one.s3PathOriginal,
    )
    const own = files.filter(({ side, state }) => side === as && state === 'stored').map(({ key }) => key)
    expect(listed.sort()).to.deep.equal(own.sort())
  }

  async function remove(as: Side, file: ModelFile): Promise<void> {
    const isOwn = as === file.side
    const now = random.below(2) === 0
    const answer = await exchange(as, `/v1/upload/${file.key}${now ? '?now' : ''}`, {
      method: 'DELETE',
      headers: asSecret(as),
    })
    const may = isOwn && (file.state === 'stored' || (now && file.state === 'kept'))
    expect(answer.status, `${file.state} ${now}`).to.equal(may ? 200 : 404)
    if (may) file.state = now ? 'gone' : 'kept'
  }

  async function restore(as: Side, file: ModelFile): Promise<void> {
    const answer = await exchange(as, '/v1/files/restore', {
      method: 'POST',
      headers: asSecret(as, json),
      body: JSON.stringify({ paths: [file.key] }),
    })
    expect(answer.status).to.equal(200)
    const [{ status }] = JSON.parse(String(answer.body)).results
    if (as === file.side && file.state === 'kept') {
      expect(status).to.equal('restored')
      file.state = 'stored'
    } else expect(status).to.equal('error')
  }

  for (let step = 0; step < steps; step += 1) {
    const as = random.oneOf(sides)
    const file = files.length > 0 ? random.oneOf(files) : undefined
    const dice = random.below(100)
    if (!file || dice < 15) await upload(as)
    else if (dice < 25) await sign(as)
    else if (dice < 40) await replay(as)
    else if (dice < 60) await read(as, file)
    else if (dice < 68) await archive(as, file)
    else if (dice < 78) await manage(as, file)
    else if (dice < 90) await remove(as, file)
    else await restore(as, file)
  }
}
