import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { connectRedis } from '../../../src/adapters/redis/connection.ts'
import { connectKeyspaces } from '../../../src/adapters/redis/keyspaces.ts'
import type { Problem } from '../../../src/core/problem.ts'
import { rejection } from '../../support/rejection.ts'
import { type LocalCertificate, newLocalCertificate } from '../../support/servers/certificate.ts'
import { startRedisCluster } from '../../support/servers/redis-cluster.ts'
import { PATIENT, type RedisServer, startRedis } from '../../support/servers/redis-server.ts'
import { startWatchedRedis } from '../../support/servers/sentinels.ts'
import { itLong } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('Redis with TLS', () => {
  let folder: string
  let tls: LocalCertificate
  let server: RedisServer
  let ca: string

  before(async () => {
    folder = await temporaryFolder()
    tls = await newLocalCertificate(folder)
    ca = tls.ca
    server = await startRedis({ tls })
  })
  after(async () => {
    await server.remove()
    await rm(folder, { recursive: true })
  })

  /** For a server that is never ready. */
  const impatient = (url: string) => url.replace(PATIENT, '?timeout=3')

  it('connects to a server whose certificate it trusts', async () => {
    const redis = connectRedis({ url: server.url, ca })
    try {
      await redis.ready()
      expect(await redis.send((client) => client.ping())).to.equal('PONG')
    } finally {
      await redis.close()
    }
  })

  it('connects to any server when verification is off', async () => {
    const redis = connectRedis({ url: server.url, verify: false })
    try {
      await redis.ready()
      expect(await redis.send((client) => client.ping())).to.equal('PONG')
    } finally {
      await redis.close()
    }
  })

  it('connects to no other server', async () => {
    const redis = connectRedis({ url: impatient(server.url) })
    try {
      const failure = (await rejection(redis.ready())) as Problem
      expect(failure).to.include({ status: 503 })
      expect(inspect(failure.cause)).to.match(/self-signed certificate/)
    } finally {
      await redis.close()
    }
  })

  itLong('does not end the process when it is closed during a handshake', async () => {
    // Mocha fails the test, and stops, for an unhandled error.
    for (let i = 0; i < 100; i += 1) {
      const redis = connectRedis({ url: server.url })
      await pause(i % 25)
      await redis.close()
    }
    await pause(500)
  })

  it('may be a cluster: each node has to have a certificate that is trusted', async () => {
    const cluster = await startRedisCluster({ tls })
    const keyspaces = connectKeyspaces({ url: cluster.url, ca })
    try {
      await keyspaces.ready()
      const nodes = await Promise.all(
        keyspaces.all.map(({ redis }) => redis.send((client) => client.cluster('MYID'))),
      )
      expect(new Set(nodes).size).to.equal(3)
      const distrusting = connectKeyspaces({ url: impatient(cluster.url) })
      expect(await rejection(distrusting.ready())).to.include({ status: 503 })
      await distrusting.close()
    } finally {
      await keyspaces.close()
      await cluster.remove()
    }
  })

  itLong('may be watched by Sentinels, which have to have a certificate that is trusted', async () => {
    const watched = await startWatchedRedis({ tls })
    const [redis, distrusting] = [connectRedis({ url: watched.url, ca }), connectRedis({ url: watched.url })]
    try {
      await redis.ready()
      expect(await redis.send((client) => client.ping())).to.equal('PONG')
      expect(await rejection(distrusting.ready())).to.include({ status: 503 })
    } finally {
      await Promise.all([redis.close(), distrusting.close()])
      await watched.remove()
    }
  })
})
