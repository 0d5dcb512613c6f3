import { expect } from 'chai'
import { assetFromBytes } from '../../../src/core/bytes/asset.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { changedFile, type FileChangeListener } from '../../../src/core/ports/index/file-changes.ts'
import { createHotCache, type HotResponse } from '../../../src/http/hot/cache.ts'
import { usedHeap } from '../../support/heavy.ts'

const ONE = storedKey('image/png/1111111111111111111111.png')
const TWO = storedKey('image/png/2222222222222222222222.png')
const DERIVATIVE = storedKey(`${ONE}_w=9`)

describe('the hot cache', () => {
  function cacheOf(maxBytes = 1_000_000) {
    const clock = { now: 0, knownUntil: Number.POSITIVE_INFINITY }
    let listener: FileChangeListener = { changed() {}, missed() {} }
    const cache = createHotCache({
      maxBytes,
      changes: {
        listen(given) {
          listener = given
        },
        knownUntil: () => clock.knownUntil,
      },
      now: () => clock.now,
    })
    const changed: FileChangeListener['changed'] = (...args) => listener.changed(...args)
    return { cache, clock, changed, missed: () => listener.missed() }
  }

  function response(original = ONE, { derivative = original, bytes = 10 } = {}): HotResponse {
    const asset = assetFromBytes(Buffer.alloc(bytes), { mediaType: 'image/png', lastModified: new Date(0) })
    const source = { clientId: 'c', original, isHeld: false, asset }
    return {
      client: {} as Client,
      source: derivative === original ? source : { ...source, derivative },
      headers: [],
      validators: [],
      body: Buffer.alloc(bytes),
      etag: '"a"',
      lastModified: new Date(0),
      path: '/v1/a',
      route: '/v1/:a',
    }
  }

  const named = (target: string, accept = '') => ({ target, headers: { accept } })
  const plain = { variesBy: [] }

  it('finds a response by its target, and by Accept only if the response depends on it', () => {
    const { cache } = cacheOf()
    const [first, avif, webp] = [response(), response(), response()]
    cache.add(named('/a', 'x'), first, { state: 0, ...plain })
    cache.add(named('/b', 'image/avif'), avif, { state: 0, variesBy: ['accept'] })
    cache.add(named('/b', 'image/webp'), webp, { state: 0, variesBy: ['accept'] })
    expect(cache.find(named('/a', 'y'))).to.equal(first)
    expect(cache.find(named('/b', 'image/avif'))).to.equal(avif)
    expect(cache.find(named('/b', 'image/webp'))).to.equal(webp)
    expect(cache.find(named('/b', 'image/png'))).to.equal(undefined)
    expect(cache.find(named('/c'))).to.equal(undefined)
  })

  it('removes all responses of a changed id, and no others', () => {
    const { cache, changed } = cacheOf()
    cache.add(named('/1'), response(), { state: 0, ...plain })
    cache.add(named('/1?w=9'), response(ONE, { derivative: DERIVATIVE }), { state: 0, ...plain })
    cache.add(named('/2'), response(TWO), { state: 0, ...plain })
    const moved = storedKey('folder/image/png/1111111111111111111111.png')
    cache.add(named('/folder/1'), response(moved), { state: 0, ...plain })
    changed(changedFile('c', '1111111111111111111111'))
    for (const [target, isFound] of [
      ['/1', false],
      ['/1?w=9', false],
      ['/folder/1', false],
      ['/2', true],
    ] as const)
      expect(cache.find(named(target)) !== undefined, target).to.equal(isFound)
  })

  it('removes the responses of a changed derivative, and keeps those of its original', () => {
    const { cache, changed } = cacheOf()
    cache.add(named('/1'), response(), { state: 0, ...plain })
    cache.add(named('/1?w=9'), response(ONE, { derivative: DERIVATIVE }), { state: 0, ...plain })
    changed(changedFile('c', ONE), DERIVATIVE)
    expect(cache.find(named('/1'))).to.not.equal(undefined)
    expect(cache.find(named('/1?w=9'))).to.equal(undefined)
  })

  it('does not add a response that was begun before a change of its file', () => {
    const { cache, changed, missed } = cacheOf()
    const before = cache.state()
    changed(changedFile('c', TWO))
    cache.add(named('/1'), response(), { state: before, ...plain })
    expect(cache.find(named('/1')), 'another file has changed').to.not.equal(undefined)
    changed(changedFile('c', ONE))
    cache.add(named('/1'), response(), { state: before, ...plain })
    expect(cache.find(named('/1'))).to.equal(undefined)
    cache.add(named('/1'), response(), { state: cache.state(), ...plain })
    expect(cache.find(named('/1'))).to.not.equal(undefined)
    const early = cache.state()
    missed()
    cache.add(named('/2'), response(TWO), { state: early, ...plain })
    for (const target of ['/1', '/2']) expect(cache.find(named(target)), target).to.equal(undefined)
  })

  it('does not add a response that was begun before more changes than it remembers', () => {
    const { cache, changed } = cacheOf()
    const before = cache.state()
    changed(changedFile('c', ONE))
    for (let i = 0; i < 10_001; i += 1) changed(changedFile(`${i}`, TWO))
    cache.add(named('/1'), response(), { state: before, ...plain })
    expect(cache.find(named('/1'))).to.equal(undefined)
  })

  it('trusts its entries only while changes by other processes are known', () => {
    const { cache, clock } = cacheOf()
    clock.knownUntil = 2000
    cache.add(named('/1'), response(), { state: 0, ...plain })
    clock.now = 1999
    expect(cache.find(named('/1'))).to.not.equal(undefined)
    clock.now = 2000
    expect(cache.find(named('/1'))).to.equal(undefined)
    cache.add(named('/2'), response(TWO), { state: 0, ...plain })
    clock.knownUntil = 4000
    expect(cache.find(named('/1'))).to.not.equal(undefined)
    expect(cache.find(named('/2')), 'added while changes were unknown').to.equal(undefined)
  })

  it('stays within its bytes: the least recently used responses are removed', () => {
    const { cache } = cacheOf(30_000)
    for (let i = 0; i < 20; i += 1) {
      cache.add(named(`/${i}`), response(ONE, { bytes: 1000 }), { state: 0, ...plain })
      cache.find(named('/0'))
    }
    const found = Array.from({ length: 20 }, (_, i) => i).filter((i) => cache.find(named(`/${i}`)))
    expect(found).to.have.length.within(8, 9)
    expect(found).to.include.members([0, 19])
  })

  it('counts also what the responses of a target depend on', () => {
    const { cache } = cacheOf(100_000)
    const before = usedHeap()
    for (let i = 0; i < 20_000; i += 1)
      cache.add(named(`/${i}?${'x'.repeat(900)}`), response(), { state: 0, variesBy: ['accept'] })
    expect(usedHeap() - before).to.be.below(1_000_000)
    expect(cache.find(named(`/19999?${'x'.repeat(900)}`))).to.not.equal(undefined)
  })

  it('does not remember names of more than 1000 characters', () => {
    const { cache } = cacheOf()
    for (const [target, accept] of [
      [`/${'x'.repeat(1000)}`, ''],
      ['/1', 'x'.repeat(1000)],
    ] as const) {
      cache.add(named(target, accept), response(), { state: 0, variesBy: ['accept'] })
      expect(cache.find(named(target, accept))).to.equal(undefined)
    }
  })

  it('adds nothing with 0 bytes', () => {
    const disabled = cacheOf(0)
    disabled.cache.add(named('/1'), response(), { state: 0, ...plain })
    expect(disabled.cache.find(named('/1'))).to.equal(undefined)
  })
})
