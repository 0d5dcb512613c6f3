import { spawnSync } from 'node:child_process'
import { expect } from 'chai'

describe('the AWS SDK’s warning about Node', () => {
  it('is not printed', () => {
    const script = `
      const { silenceNodeWarning } = await import('./config/node-warning.ts')
      const { S3Client } = await import('@aws-sdk/client-s3')
      silenceNodeWarning()
      new S3Client({ region: 'x' })
      // As on Node 20, whatever runs this.
      const { emitWarningIfUnsupportedVersion } = await import('@aws-sdk/core/client')
      emitWarningIfUnsupportedVersion('v18.0.0')
    `
    const args = ['--import=tsx', '--input-type=module', '--eval', script]
    const { status, stderr } = spawnSync('node', args, { encoding: 'utf8' })
    expect(status, stderr).to.equal(0)
    expect(stderr).to.not.include('NodeVersionSupportWarning')
  })
})
