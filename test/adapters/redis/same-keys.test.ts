import { expect } from 'chai'
import { firstPartition } from '../../../src/adapters/file-index/partitioned/division.ts'
import { connectKeyspaces, tagOf } from '../../../src/adapters/redis/keyspaces.ts'
import { PARTITIONS, partitionHash } from '../../../src/core/files/partition.ts'

// A change of these values would lose the entries of all installations with a cluster.
describe('the keyspace of a key in a Redis Cluster', () => {
  it('is where earlier versions have put it', async () => {
    expect(PARTITIONS).to.equal(64)
    expect([0, 5, 17, 63].map(tagOf)).to.deep.equal(TAGS)
    expect(['first', 'acme', 'ü'].map(firstPartition)).to.deep.equal(FIRST)
    expect(['1'.repeat(22), '7uLqEUXG4WpoGGa38h2U9Z.png', 'zz'].map(partitionHash)).to.deep.equal(HASHES)
    const keyspaces = connectKeyspaces({ url: 'redis+cluster://127.0.0.1:1' })
    try {
      const numberOf = (subject: Parameters<typeof keyspaces.of>[0]) =>
        keyspaces.all.indexOf(keyspaces.of(subject))
      expect(
        Object.fromEntries(Object.keys(SUBJECTS).map((one) => [one, numberOf(one as 'jobs')])),
      ).to.deep.equal(SUBJECTS)
    } finally {
      await keyspaces.close()
    }
  })
})

const TAGS = ['sluice:0:4i', 'sluice:5:h', 'sluice:17:20', 'sluice:63:33']
const FIRST = [23, 62, 21]
const HASHES = [56, 3, 33]
const SUBJECTS = {
  jobs: 5,
  deliveries: 10,
  audit: 16,
  usage: 26,
  changes: 32,
  locks: 37,
  ledger: 48,
  limits: 58,
}
