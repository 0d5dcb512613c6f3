import { expect } from 'chai'
import { BACKUP_RESULTS, backupOutput } from '../../../../src/process/cli/backup/backup-output.ts'

describe('the output of backups', () => {
  let written: string
  let now: number
  beforeEach(() => {
    written = ''
    now = 0
  })

  const write = (text: string) => {
    written += text
  }
  const output = ({ isTerminal = false, json = false } = {}) =>
    backupOutput({
      json,
      show: BACKUP_RESULTS.migrate as (result: never) => string,
      write,
      writeError: write,
      isTerminal,
      now: () => now,
    })
  const progress = { files: 50, bytes: 12_300_000, total: 100, done: 'copied' }
  const result = { files: 1, copied: 2, copiedBytes: 3e9, deleted: 0 }

  it('has a bar in a terminal, and a line every ten seconds in a log', () => {
    output({ isTerminal: true }).report({ progress })
    expect(written).to.equal(
      `\r\u001b[K[${'#'.repeat(15)}${'-'.repeat(15)}] 50 of about 100 files, 12.3 MB copied`,
    )
    written = ''
    const inLog = output()
    inLog.report({ progress })
    expect(written).to.equal('')
    now = 10_000
    inLog.report({ progress: { files: 7, bytes: 0, done: 'verified' } })
    expect(written).to.equal('7 files, 0.0 MB verified\n')
  })

  it('counts an incomplete migration as a failure, also without a file that could not be copied', () => {
    for (const [isComplete, findings] of [
      [true, 0],
      [false, 1],
    ]) {
      const one = output()
      one.result({ ...result, isComplete, settings: { DATA_DIR: '/new', S3_BUCKET: '' } })
      expect(one.findings).to.equal(findings)
    }
    expect(written)
      .to.include('DATA_DIR=/new\n(without S3_BUCKET)\n\nUnless APP_SECRET is set, copy the file app-secret')
      .and.to.include('The target is not complete')
  })

  it('has a line for each file with a problem, and their numbers with an explanation', () => {
    const one = output()
    one.report({
      trouble: { kind: 'damaged', clientId: 'first', key: 'a\u001b.txt', detail: 'another SHA-256' },
    })
    one.result({ ...result, isComplete: true })
    expect(written).to.match(/^damaged +first +a.*\.txt {2}\(another SHA-256\)\n/)
    expect(written).to.not.include('\u001b')
    expect(written).to.match(/^1 +damaged +the bytes differ from their SHA-256$/m)
    expect(one.findings).to.equal(1)
  })
})
