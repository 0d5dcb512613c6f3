import { type CORSRule, DeleteBucketCorsCommand, PutBucketCorsCommand } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { loadConfig } from '../../config/load.ts'
import { checkBucketCors } from '../../src/assembly/doctor/bucket-cors.ts'
import { type S3Server, s3Server } from '../support/servers/s3-server.ts'

describe('the check of the CORS rules of a bucket', () => {
  const ORIGIN = 'https://app.example.com'
  let server: S3Server
  let bucket: string
  before(async () => {
    server = await s3Server()
    bucket = await server.newBucket()
  })

  const check = async (more: Record<string, string> = {}) => {
    const { endpoint, region, credentials } = server.connection
    const config = loadConfig({
      S3_BUCKET: bucket,
      S3_FORCE_PATH_STYLE: 'true',
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      ...more,
    })
    const [finding] = await checkBucketCors(config, bucket)
    return finding
  }
  const set = (rule: CORSRule) =>
    server.client.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules: [rule] } }))
  const PUT = { AllowedMethods: ['PUT'], AllowedOrigins: [ORIGIN], AllowedHeaders: ['*'] }

  it('warns about a missing rule when pages may upload, with a rule that ends the warning', async () => {
    expect(await check())
      .to.include({ state: 'ok' })
      .and.not.have.property('advice')
    for (const more of [{ CORS_ORIGINS: ORIGIN }, { S3_DIRECT_ENDPOINT: 'https://s3.example.com' }]) {
      await server.client.send(new DeleteBucketCorsCommand({ Bucket: bucket }))
      const warned = await check(more)
      expect(warned).to.include({ state: 'warning' })
      const [, json = ''] = /--cors-configuration '(.*)'$/.exec(warned?.advice ?? '') ?? []
      await set(JSON.parse(json).CORSRules[0])
      expect(await check(more))
        .to.include({ state: 'ok' })
        .and.not.have.property('advice')
    }
  })

  it('looks at origin, method and headers of each rule', async () => {
    const state = async (rule: CORSRule) => {
      await set(rule)
      return (await check({ CORS_ORIGINS: ORIGIN }))?.state
    }
    expect(await state(PUT)).to.equal('ok')
    expect(await state({ ...PUT, AllowedOrigins: ['https://*.example.com'] })).to.equal('ok')
    expect(await state({ ...PUT, AllowedOrigins: ['https://other.example.com'] })).to.equal('warning')
    expect(await state({ ...PUT, AllowedMethods: ['GET'] })).to.equal('warning')
    expect(await state({ ...PUT, AllowedHeaders: ['x-amz-*'] })).to.equal('warning')
    expect(await state({ ...PUT, AllowedHeaders: ['Content-*'] })).to.equal('ok')
  })

  it('does not warn when the rules cannot be read', async () => {
    const { found, state } = (await check({ CORS_ORIGINS: ORIGIN, AWS_SECRET_ACCESS_KEY: 'wrong' })) ?? {}
    expect([found, state]).to.deep.equal(['its CORS rules could not be read (SignatureDoesNotMatch)', 'ok'])
  })
})
