import { PutObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { type S3BucketOptions, s3Buckets } from '../../../../src/adapters/bucket/s3/s3.ts'
import { FIRST_CLIENT_ID, newClientId } from '../../../../src/core/clients/client.ts'
import {
  clientRecordKey,
  derivativeKey,
  parseFolder,
  recordKey,
  storedKey,
} from '../../../../src/core/files/object-key.ts'
import { parsePath } from '../../../../src/core/files/request-path.ts'
import { Problem } from '../../../../src/core/problem.ts'
import { bucketContract } from '../../../contracts/bucket.ts'
import { rejection } from '../../../support/rejection.ts'
import type { Fate, SeenRequest } from '../../../support/servers/s3-proxy.ts'
import { s3Server } from '../../../support/servers/s3-server.ts'
import { itLong, sized } from '../../../support/sized.ts'
import { BESIDE, KEY, listed, onS3, openUploadsIn, put, text, VIDEO } from '../s3-setup.ts'

// Starts the server before a test counts its own time.
before(async () => {
  await s3Server()
})

bucketContract('s3', async () => {
  const server = await s3Server()
  const bucket = await server.newBucket()
  return {
    buckets: await s3Buckets({ ...server.connection, bucket, prefix: 'a prefix/ü+&' }),
    async close() {
      expect(await openUploadsIn(server, bucket)).to.deep.equal([])
    },
  }
})

describe('s3', () => {
  const s3 = onS3()
  const first = { id: FIRST_CLIENT_ID, token: '' }

  describe('the roots of clients', () => {
    const other = { id: newClientId(), token: '' }

    it('are the prefix for the first client, with or without slashes, and a reserved folder in it for others', async () => {
      const prefixes = { '': '', photos: 'photos/', '/photos/2024/': 'photos/2024/' }
      for (const [prefix, root] of Object.entries(prefixes)) {
        s3.name = await s3.server.newBucket()
        const roots = await s3.open({ prefix })
        for (const client of [first, other]) await put(roots.of(client), KEY, client.id)
        expect(await s3.names()).to.deep.equal([`${root}.sluice/roots/${other.id}/${KEY}`, `${root}${KEY}`])
      }
    })

    it('cannot be named by a path or folder of a request', () => {
      const theirs = `.sluice/roots/${other.id}`
      expect(parsePath(`${theirs}/${KEY}`)).to.deep.equal({})
      expect(parsePath(`${theirs}/7uLqEUXG4WpoGGa38h2U9Z.png`)).to.deep.equal({})
      expect(() => parseFolder(theirs)).to.throw(Problem)
    })

    it('cannot be named by a key of the first client', async () => {
      const bucket = s3.buckets.of(other)
      await put(bucket, KEY, 'theirs')
      const theirs = storedKey(`.sluice/roots/${other.id}/${KEY}`)
      for (const error of [
        await rejection(s3.bucket.find(theirs)),
        await rejection(put(s3.bucket, theirs, 'mine')),
        await rejection(s3.bucket.delete([theirs])),
      ])
        expect(error).to.be.instanceOf(Error).with.property('message').that.contains('not in the root')
      expect(await text(bucket, KEY)).to.equal('theirs')
    })

    itLong(
      'list the keys of the first client before and after the reserved folder, which is skipped',
      async () => {
        const mine = [
          KEY,
          recordKey(KEY),
          clientRecordKey(other.id),
          storedKey('.sluice/zzz'),
          storedKey('-a'),
        ]
        for (const key of mine) await put(s3.bucket, key, 'x')
        const theirs = s3.buckets.of(other)
        // Two pages.
        const others = 1001
        await s3.fill(
          other,
          Array.from({ length: others }, (_, i) => storedKey(`n/${i}`)),
        )
        s3.proxy.seen.length = 0
        expect(await listed(s3.bucket, '')).to.deep.equal([...mine].sort())
        // Up to the folder, and on behind it, however many pages its objects fill.
        expect(s3.proxy.seen.map(({ query }) => query.get('start-after'))).to.deep.equal([
          null,
          '.sluice/roots/~',
        ])
        expect(await listed(s3.bucket, '.sluice/')).to.deep.equal(
          mine.filter((key) => key.startsWith('.')).sort(),
        )
        expect(await listed(s3.bucket, '.sluice/roots/')).to.deep.equal([])
        expect(await listed(theirs, '')).to.have.length(others)
      },
    )
  })

  describe('objects of other programs in the bucket', () => {
    const place = async (...names: string[]) => {
      for (const Key of names)
        await s3.server.client.send(new PutObjectCommand({ Bucket: s3.name, Key, Body: Buffer.from('x') }))
    }

    it('are ignored when their names are not our keys', async () => {
      await put(s3.bucket, KEY, 'x')
      await place('folder/', 'a//b', 'a\\b', 'a?b', 'line\nbreak', 'x/../y', 'tab\t', '\u0001')
      expect(await s3.names()).to.have.length(9)
      expect(await listed(s3.bucket, '')).to.deep.equal([KEY])
    })

    it('are not touched outside of the prefix', async () => {
      await place(KEY, `photosx/${KEY}`, `photos.${KEY}`)
      const photos = (await s3.open({ prefix: 'photos' })).of(first)
      expect(await listed(photos, '')).to.deep.equal([])
      expect(await photos.find(KEY)).to.equal(undefined)
      await photos.delete([KEY])
      expect(await s3.names()).to.have.length(3)
    })

    it('have the type of their key when they were stored without one', async () => {
      await place(KEY)
      expect((await s3.bucket.find(KEY))?.mediaType).to.equal('image/png')
    })
  })

  describe('public addresses', () => {
    const odd = storedKey('a b/ü+&/x.png_w=1')
    const path = 'a%20b/%C3%BC%2B%26/x.png_w%3D1'
    const hosted = { forcePathStyle: false }
    const cases: ReadonlyArray<readonly [what: string, options: Partial<S3BucketOptions>, url: string]> = [
      ['Amazon', { ...hosted, region: 'eu-west-1' }, 'https://files.s3.eu-west-1.amazonaws.com'],
      ['Amazon, path style', {}, 'https://s3.us-east-1.amazonaws.com/files'],
      ['a name with dots', { ...hosted, bucket: 'a.b' }, 'https://s3.us-east-1.amazonaws.com/a.b'],
      ['another store', { endpoint: 'http://localhost:9000' }, 'http://localhost:9000/files'],
      [
        'another store by host',
        { ...hosted, endpoint: 'https://store.example' },
        'https://files.store.example',
      ],
      [
        'another store below a path',
        { endpoint: 'https://store.example/s3/' },
        'https://store.example/s3/files',
      ],
      ['a public URL', { publicUrl: 'https://cdn.example' }, 'https://cdn.example'],
      ['a public URL with a slash', { publicUrl: 'https://cdn.example/x/' }, 'https://cdn.example/x'],
    ]
    for (const [what, options, url] of cases) {
      it(`${what}: ${url}/<prefix><key>`, async () => {
        const urlOf = async (prefix: string, client = first) =>
          (await s3.open({ endpoint: undefined, bucket: 'files', prefix, ...options })).of(client).urlOf(odd)
        expect(await urlOf('')).to.equal(`${url}/${path}`)
        expect(await urlOf('ü/x')).to.equal(`${url}/%C3%BC/x/${path}`)
        expect(await urlOf('', { id: 'x', token: '' })).to.equal(`${url}/.sluice/roots/x/${path}`)
      })
    }

    it('are the URLs of the bytes, for readers with access', async () => {
      await s3.server.client.send(
        new PutObjectCommand({ Bucket: s3.name, Key: odd, Body: Buffer.from('hello'), ACL: 'public-read' }),
      )
      const response = await fetch(s3.bucket.urlOf(odd))
      expect(await response.text()).to.equal('hello')
    })

    describe('without options, from the SDK', () => {
      const urlOf = async (env: Record<string, string>) => {
        const before = process.env
        const others = Object.entries(before).filter(([name]) => !name.startsWith('AWS_'))
        process.env = { ...Object.fromEntries(others), AWS_CONFIG_FILE: '/nonexistent', ...env }
        try {
          const buckets = await s3Buckets({ bucket: 'files', prefix: '', forcePathStyle: false })
          return buckets.of(first).urlOf(odd)
        } finally {
          process.env = before
        }
      }

      it('are built from the region and the endpoint of the environment', async () => {
        expect(await urlOf({ AWS_REGION: 'eu-west-1' })).to.match(
          /^https:\/\/files\.s3\.eu-west-1\.amazonaws/,
        )
        expect(await urlOf({ AWS_REGION: 'x', AWS_ENDPOINT_URL_S3: 'http://s.example' })).to.equal(
          `http://files.s.example/${path}`,
        )
      })

      it('are an error without a region', async () => {
        expect(await rejection(urlOf({}))).to.match(/region is missing/i)
      })
    })

    it('are an error for an invalid bucket name', async () => {
      expect(await rejection(s3.open({ bucket: 'no/bucket' }))).to.be.instanceOf(Error)
    })
  })

  describe('list and delete', () => {
    const [many, batches] = sized([1010, 2], [2300, 3])

    it(`take ${many} keys in batches of 1,000`, async () => {
      const keys = Array.from({ length: many }, (_, i) => derivativeKey(VIDEO, `n=${i}`))
      await s3.fill(first, keys)
      s3.proxy.seen.length = 0
      expect(await listed(s3.bucket, VIDEO)).to.deep.equal([...keys].sort())
      expect(s3.proxy.seen).to.have.length(batches)
      // A slow machine deletes a thousand objects at once in more than the time limit. So this is a client of whose
      // objects only the last one, in the last batch, exists.
      const theirs = s3.buckets.of({ id: newClientId(), token: '' })
      await put(theirs, derivativeKey(VIDEO, `n=${many - 1}`), 'x')
      s3.proxy.seen.length = 0
      expect(await theirs.delete(keys)).to.deep.equal({ failed: [] })
      expect(s3.proxy.seen.map(({ method, query }) => [method, query.has('delete')])).to.deep.equal(
        Array(batches).fill(['POST', true]),
      )
      expect(await listed(theirs, '')).to.deep.equal([])
    })

    it('send an MD5 of the request body, and no newer checksum', async () => {
      await s3.bucket.delete([KEY])
      const { headers } = s3.proxy.seen[0] as SeenRequest
      expect(headers['content-md5']).to.match(/^[\w+/]{22}==$/)
      expect(Object.keys(headers).filter((header) => header.includes('checksum'))).to.deep.equal([])
    })

    describe('keys that S3 fails to delete', () => {
      const third = derivativeKey(KEY, 'a&b')
      const failing = (...errors: Array<[key: string, code: string]>): Fate => ({
        kind: 'answer',
        status: 200,
        headers: { 'content-type': 'application/xml' },
        body: `<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${errors
          .map(
            ([key, code]) =>
              `<Error><Key>${key.replace('&', '&amp;')}</Key><Code>${code}</Code><Message>no</Message></Error>`,
          )
          .join('')}</DeleteResult>`,
      })

      it('are named, each with its error', async () => {
        s3.proxy.decide(() => failing([BESIDE, 'AccessDenied'], [third, 'InternalError']))
        const { failed } = await s3.bucket.delete([KEY, BESIDE, third])
        expect(failed.map(({ key }) => key)).to.deep.equal([BESIDE, third])
        const [error] = failed.map(({ error }) => error as Problem)
        expect(error).to.be.instanceOf(Problem).with.property('status', 503)
        expect(error?.cause).to.match(/AccessDenied: no/)
      })

      it('count as deleted when they do not exist', async () => {
        s3.proxy.decide(() => failing([BESIDE, 'NoSuchKey']))
        expect(await s3.bucket.delete([KEY, BESIDE])).to.deep.equal({ failed: [] })
      })

      it('are retried, without the other keys', async () => {
        const fates = [failing([BESIDE, 'InternalError'], [third, 'SlowDown']), failing([third, 'SlowDown'])]
        for (const key of [KEY, BESIDE, third]) await put(s3.bucket, key, 'x')
        s3.proxy.decide(() => fates.shift())
        expect(await s3.bucket.delete([KEY, BESIDE, third])).to.deep.equal({ failed: [] })
        // The proxy has answered for the others, which are still there.
        expect(await s3.names()).to.deep.equal([KEY, BESIDE].sort())
      })

      it('are retried while another caller puts them, which makes Ceph fail several times in a row', async () => {
        const fates = Array.from({ length: 5 }, () => failing([third, 'InternalError']))
        await put(s3.bucket, third, 'x')
        s3.proxy.decide(() => fates.shift())
        expect(await s3.bucket.delete([third])).to.deep.equal({ failed: [] })
        expect(await s3.names()).to.deep.equal([])
      })

      it('are all keys when the error names none of them', async () => {
        s3.proxy.decide(() => failing(['something else', 'InternalError']))
        const { failed } = await s3.bucket.delete([KEY, BESIDE])
        expect(failed.map(({ key }) => key)).to.deep.equal([KEY, BESIDE])
      })

      it('are those of the failed batch and of later batches, which are not tried', async () => {
        const keys = Array.from({ length: 2500 }, (_, i) => derivativeKey(KEY, `n=${i}`))
        await put(s3.bucket, derivativeKey(KEY, 'n=0'), 'x')
        let asked = 0
        s3.proxy.decide(() => {
          asked += 1
          return asked === 1 ? undefined : { kind: 'answer', status: 403 }
        })
        const { failed } = await s3.bucket.delete(keys)
        expect(failed.map(({ key }) => key)).to.deep.equal(keys.slice(1000))
        for (const { error } of failed) expect(error).to.be.instanceOf(Problem)
        expect(asked).to.equal(2)
        expect(await s3.names()).to.deep.equal([])
      })
    })
  })
})
