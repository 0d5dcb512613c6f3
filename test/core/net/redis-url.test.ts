import { expect } from 'chai'
import { parseRedisUrl } from '../../../src/core/net/redis-url.ts'

const PLAIN = { isTls: false, database: 0 }

describe('REDIS_URL', () => {
  for (const [url, parsed] of [
    ['redis://host', { ...PLAIN, nodes: [{ host: 'host', port: 6379 }], shown: 'host:6379' }],
    ['REDIS://host/', { ...PLAIN, nodes: [{ host: 'host', port: 6379 }], shown: 'host:6379' }],
    [
      'rediss://us%3Aer:p%40ss%2F@host:6380/99999',
      {
        nodes: [{ host: 'host', port: 6380 }],
        isTls: true,
        database: 99_999,
        username: 'us:er',
        password: 'p@ss/',
        shown: 'host:6380',
      },
    ],
    [
      'redis://:p@ss\n@host:\n',
      { ...PLAIN, nodes: [{ host: 'host', port: 6379 }], password: 'p@ss', shown: 'host:6379' },
    ],
    ['redis://[::1]:1/15', { ...PLAIN, nodes: [{ host: '::1', port: 1 }], database: 15, shown: '[::1]:1' }],
    [
      'redis+sentinel://:word@a,[fd00::1]:2/my-master.1/3?sentinel_password=o%26ther',
      {
        ...PLAIN,
        nodes: [
          { host: 'a', port: 26_379 },
          { host: 'fd00::1', port: 2 },
        ],
        masterName: 'my-master.1',
        password: 'word',
        sentinelPassword: 'o&ther',
        database: 3,
        shown: 'my-master.1 (Sentinels a:26379, [fd00::1]:2)',
      },
    ],
    [
      'rediss+CLUSTER://user:word@a,[fd00::1]:2/',
      {
        nodes: [
          { host: 'a', port: 6379 },
          { host: 'fd00::1', port: 2 },
        ],
        isCluster: true,
        isTls: true,
        database: 0,
        username: 'user',
        password: 'word',
        shown: 'the cluster of a:6379, [fd00::1]:2',
      },
    ],
  ] as const)
    it(`is parsed: ${url}`, () => {
      expect(parseRedisUrl(url)).to.deep.equal(parsed)
    })

  for (const url of [
    ...['', 'host:6379', 'http://host', 'redis://', 'redis:host', 'redis:///1', 'redis://a b'],
    ...[
      'redis://host/name',
      'redis://host/1/2',
      'redis://host/123456',
      'redis://host:70000',
      'redis://host:0',
    ],
    ...['redis://:100%@host', 'redis://%zz:word@host', 'redis://host?db=1', 'redis://host/#1', 'redis://::1'],
    ...['redis://[.]', 'redis://[:::::]', 'redis://a|b', 'redis://[fe80::1%25eth0]'],
    // Several servers are those of Sentinels, which need the name of the primary.
    ...['redis://a,b', 'redis+sentinel://a', 'redis+sentinel://a/', 'redis+sentinel://a,/one'],
    ...['redis+sentinel://a/one/x', 'redis+sentinel://a/one?password=x', 'redis+sentinel://a/one/1/2'],
    ...['redis+sentinel://a/o%20ne', `redis+sentinel://${'a,'.repeat(20)}a/one`, 'redis+clusters://a,b'],
    // A cluster has no databases.
    ...['redis+cluster://a,b/1', 'redis+cluster://a/name', 'redis+cluster://', 'redis+cluster://a?db=0'],
  ])
    it(`is refused: ${url.slice(0, 60)}`, () => {
      expect(parseRedisUrl(url)).to.equal(undefined)
    })
})
