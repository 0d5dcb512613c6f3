import { expect } from 'chai'
import { BACKUP_RESULTS, backupOutput } from '../../../../src/process/cli/backup/backup-output.ts'

describe('the output of backups', () => {
  let written: string
  let errors: string
  let now: number
  beforeEach(() => {
    written = ''
    errors = ''
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
      writeError: (text) => {
        errors += text
      },
      isTerminal,
      now: () => now,
    })
  const progress = { files: 50, bytes: 12_300_000, total: 100, done: 'copied' }
  const result = { files: 1, copied: 2, copiedBytes: 3e9, deleted: 0 }

  it('has a bar in a terminal, and a line on standard error every minute in a log', () => {
    output({ isTerminal: true }).report({ progress })
    expect(errors).to.equal(
      `\r\u001b[K[${'#'.repeat(15)}${'-'.repeat(15)}] 50 of about 100 files, 12.3 MB copied`,
    )
    errors = ''
    const inLog = output()
    inLog.report({ progress })
    now = 59_999
    inLog.report({ progress })
    expect(errors).to.equal('')
    now = 60_000
    inLog.report({ progress: { files: 7, bytes: 0, done: 'verified' } })
    expect(errors).to.equal('7 files, 0.0 MB verified\n')
    expect(written).to.equal('')
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

  it('lists backups with their numbers, and counts the restore of an incomplete one as a failure', () => {
    const list = output()
    const backups = [
      { backup: '2026-11-27', files: 1, notCopied: 0 },
      { backup: '2026-11-28', files: 12, notCopied: 3 },
      { backup: '2026-11-29' },
      { backup: '2026-11-30', unreadable: 'S3 is down' },
    ]
    for (const listed of backups) list.report({ listed })
    expect(written.split('\n')).to.deep.equal([
      '2026-11-27  1 file',
      '2026-11-28  12 files  3 not copied',
      '2026-11-29  damaged',
      '2026-11-30  unreadable  (S3 is down)',
      '',
    ])
    const one = output()
    one.result({ ...result, notCopied: 3 })
    expect(one.findings).to.equal(1)
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
