import { expect } from 'chai'
import { checkLiteral } from '../../../src/adapters/bucket/s3/guard.ts'
import { tryStorage } from '../../../src/adapters/bucket/try-storage.ts'
import { isMetadataAddress } from '../../../src/core/net/ip-ranges.ts'
import { Problem } from '../../../src/core/problem.ts'
import { rejection } from '../../support/rejection.ts'
import { type Remote, remote } from '../../support/requests/remote.ts'

describe('trying the settings of a bucket', () => {
  let server: Remote
  before(async () => {
    server = await remote((_req, res) => res.end())
  })
  after(() => server.close())

  const settings = (endpoint: string) => ({
    endpoint,
    bucket: 'files',
    prefix: '',
    region: 'us-east-1',
    forcePathStyle: true,
    accessKeyId: 'key',
    secretAccessKey: 'secret',
  })
  const isRefused = (address: string) => ['127.0.0.1', '::1'].includes(address)

  for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]'])
    it(`connects to no refused address, in any notation: ${host}`, async () => {
      const refused = host.startsWith('[') ? (address: string) => address.startsWith('::ffff:') : isRefused
      const error = await rejection(tryStorage(settings(server.url('', host)), { isRefused: refused }))
      expect(error).to.be.instanceOf(Problem).that.includes({ status: 422, code: 'storage_unusable' })
      expect((error as Problem).members).to.include({ reason: 'unreachable' })
      expect((error as Problem).message).to.include('link-local')
      expect(server.connections.made).to.equal(0)
    })

  it('refuses the metadata addresses of clouds by default', () => {
    // Nothing is sent: only the address is looked at.
    for (const endpoint of ['http://169.254.169.254', 'http://[fe80::1]:80'])
      expect(() => checkLiteral(endpoint, isMetadataAddress)).to.throw(Problem)
    checkLiteral('http://10.0.0.1:9000', isMetadataAddress)
  })

  it('connects to an address that is not refused', async () => {
    await rejection(tryStorage(settings(server.url('', 'localhost'))))
    expect(server.connections.made).to.be.above(0)
  })
})
