import { Readable } from 'node:stream'
import type { Client } from '../../../src/core/clients/client.ts'
import { annotated } from '../../../src/core/files/annotations.ts'
import type { ObjectKey } from '../../../src/core/files/object-key.ts'
import { Problem } from '../../../src/core/problem.ts'
import { derived, nameOf, type ServiceProcess } from '../world/service-process.ts'
import type { World } from '../world/world.ts'
import { KnownFile, type State } from './known-file.ts'

/** What users see, and what they may see. */
export interface UsersOptions {
  world: World
  clients: readonly Client[]
  /** A process that answers now; undefined when none runs. */
  service: () => ServiceProcess | undefined
  /** Whether the index may have lost steps that no comparison has found yet. */
  isOutdated: () => boolean
}

type Answer<T> = { value: T } | { problem: Problem } | 'none'

const VARIANTS = ['w=10', 'w=20']
// Longer than any answer of a living process.
const WAIT_MS = 120_000

/** Users who upload, read, change and delete files at random, and compare each answer with what they know. */
export function createUsers({ world, clients, service, isOutdated }: UsersOptions) {
  const { random } = world
  const files: KnownFile[] = []
  const violations: string[] = []
  let uploads = 0

  function violated(words: string): void {
    violations.push(words)
    world.tell(() => `VIOLATED: ${words}`)
  }

  /** Sends a request to a process, by default to any. Without an answer, the connection has ended: the process was killed. */
  function ask<T>(
    words: string,
    request: (at: ServiceProcess) => Promise<T>,
    at = service(),
  ): Promise<Answer<T>> {
    if (!at) return Promise.resolve('none')
    return new Promise((resolve) => {
      const ended = (answer: Answer<T>) => {
        stop()
        world.tell(() => `${words}: ${shown(answer)}`)
        resolve(answer)
      }
      const stop = world.after(WAIT_MS, () => ended('none'), USERS)
      world.after(
        random.next() * 2,
        () => {
          world.tell(() => words)
          request(at).then(
            (value) => ended({ value }),
            (error) => {
              if (error instanceof Problem) return ended({ problem: error })
              violated(`${words} threw ${error instanceof Error ? error.stack : error}`)
              ended('none')
            },
          )
        },
        at.process,
      )
    })
  }

  async function upload(): Promise<void> {
    const client = random.pick(clients)
    const count = random.chance(0.3) ? 2 : 1
    const contents = Array.from({ length: count }, () => {
      uploads += 1
      return Buffer.from(`file ${uploads}`)
    })
    async function* incoming() {
      for (const [i, bytes] of contents.entries()) yield { name: `${i}.txt`, bytes: Readable.from([bytes]) }
    }
    const answer = await ask(`upload ${contents.join(', ')}`, (at) =>
      at.upload({ client, folder: 'a', files: incoming(), signal: new AbortController().signal }),
    )
    if (typeof answer === 'string' || !('value' in answer)) return
    for (const [i, { record }] of answer.value.entries())
      files.push(new KnownFile(world, { client, key: record.key, bytes: contents[i] as Buffer }))
  }

  async function read(file: KnownFile): Promise<void> {
    const variant = random.chance(0.5) ? random.pick(VARIANTS) : undefined
    const end = file.read()
    const wasOutdated = isOutdated()
    const answer = await ask(`read ${file.key} ${variant ?? ''}`, (at) =>
      at.deliver(file.client, file.key, variant),
    )
    const seen = end()
    if (answer === 'none') return
    const may = (state: State) => seen.has(state) || (file.wasTrashed && (wasOutdated || isOutdated()))
    if ('value' in answer) {
      const expected = variant === undefined ? file.bytes : derived(file.bytes, variant)
      if (!answer.value.equals(expected))
        violated(`${file.key} ${variant ?? ''} has the bytes ${answer.value}`)
      // A render of a deleted file that has begun before may be delivered while the index has lost the delete.
      const isOutdatedRender = variant !== undefined && (wasOutdated || isOutdated())
      if (!may('stored') && !isOutdatedRender && !(seen.has('trashed') && isOutdated()))
        violated(`${file.key} is delivered, but is ${[...seen]}`)
    } else if (answer.problem.status === 404) {
      if (!may('trashed') && !seen.has('gone'))
        violated(`${file.key} ${variant ?? ''} is 404, but is ${[...seen]}`)
    } else if (answer.problem.status !== 503)
      violated(`a read answered ${answer.problem.status}: ${answer.problem.message}`)
  }

  async function change(
    file: KnownFile,
    {
      words,
      states = [],
      tags = [],
      work,
    }: {
      words: string
      states?: readonly State[]
      tags?: readonly string[]
      work: (at: ServiceProcess) => Promise<unknown>
    },
  ): Promise<void> {
    if (states.includes('trashed')) file.wasTrashed = true
    const { done, refused, failed } = file.change(states, tags)
    const answer = await ask(`${words} ${file.key}`, work)
    if (answer === 'none') return failed()
    if ('value' in answer) return done(states, tags)
    if (answer.problem.status === 503) return failed()
    refused()
  }

  const isPermanent = () => random.chance(0.5)
  const remove = (file: KnownFile) => {
    const permanent = isPermanent() || file.client.rules === undefined
    return change(file, {
      words: permanent ? 'delete' : 'soft delete',
      states: permanent ? ['gone'] : ['trashed'],
      work: (at) => at.removals.remove(file.client, { full: nameOf(file.key) }, permanent),
    })
  }
  const restore = (file: KnownFile) =>
    change(file, {
      words: 'restore',
      states: ['stored'],
      work: (at) => at.trash.restore(file.client, { full: nameOf(file.key) }),
    })
  const tag = (file: KnownFile) => {
    const tags = `t${random.below(1000)}`
    return change(file, {
      words: `tag ${tags}`,
      tags: [tags],
      work: (at) =>
        at.annotate({
          client: file.client,
          path: { full: nameOf(file.key) },
          change: (record) => annotated(record, { tags: [tags], metadata: {} }),
          signal: new AbortController().signal,
        }),
    })
  }

  /** A copy has the tags of one moment of the request. */
  const copyOf = (file: KnownFile, key: ObjectKey) => {
    const copy = new KnownFile(world, { client: file.client, key, bytes: file.bytes })
    copy.tags = new Set(file.everyTags)
    for (const one of file.everyTags) copy.everyTags.add(one)
    files.push(copy)
  }
  const copy = async (file: KnownFile) => {
    const request = requestOf(file)
    const answer = await ask(`copy ${file.key}`, (at) => at.copies.copy(request))
    if (answer !== 'none' && 'value' in answer) copyOf(file, answer.value.record.key)
  }
  const move = async (file: KnownFile) => {
    const request = requestOf(file)
    const { refused, failed } = file.change(['gone'])
    const answer = await ask(`move ${file.key}`, (at) => at.copies.move(request))
    if (answer !== 'none' && 'problem' in answer && answer.problem.status !== 503) return refused()
    // Also after a success: a sweep may have to continue the delete at the old path, which an outage of the index shows.
    failed()
    if (answer !== 'none' && 'value' in answer) copyOf(file, answer.value.record.key)
  }
  const requestOf = ({ client, key }: KnownFile) => ({
    client,
    from: { full: nameOf(key) },
    to: { folder: random.pick(['a', 'b', 'c/d']) },
    signal: new AbortController().signal,
  })

  /** One request of one user. */
  async function act(): Promise<void> {
    // Few files, so that their changes meet.
    const mayUpload = files.length === 0 || random.chance(files.length < 3 ? 0.3 : 0.05)
    const file = mayUpload ? undefined : random.pick(files)
    if (!file) return upload()
    const choice = random.next()
    if (choice < 0.5) return read(file)
    if (choice < 0.62) return remove(file)
    if (choice < 0.76 && file.wasTrashed) return restore(file)
    if (choice < 0.76) return read(file)
    if (choice < 0.82) return move(file)
    if (choice < 0.86) return copy(file)
    return file.possible.has('stored') && file.possible.size === 1 ? tag(file) : read(file)
  }

  return { files, violations, violated, act, ask }
}

export type Users = ReturnType<typeof createUsers>

/** Users are never killed. */
export const USERS = { name: 'user', isAlive: true, pausedUntil: 0, clockOffset: 0 }

function shown(answer: Answer<unknown>): string {
  if (answer === 'none') return 'no answer'
  return 'problem' in answer ? `${answer.problem.status} ${answer.problem.code}` : 'done'
}
