import {
  BACKUP_TROUBLES,
  type BackupProgress,
  type BackupReport,
  type BackupTrouble,
  type BackupTroubleKind,
  type ListedBackup,
  type MigrationReport,
  type RestoreReport,
} from '../../../core/backup/report.ts'
import { counted } from '../../../core/text/plural.ts'
import { type CommandOutput, columns, printable } from '../output.ts'
import { progressBar, progressLine } from '../progress-line.ts'

type Item = { trouble?: BackupTrouble; progress?: BackupProgress; listed?: ListedBackup }
type Write = (text: string) => void

// Without a terminal, for example in a log.
const LINE_EVERY_MS = 60_000
const KIND_WIDTH = Math.max(...Object.keys(BACKUP_TROUBLES).map(({ length }) => length))

/** Prints a backup, a restore or a migration: what is wrong with files, the progress, and the report. */
export function backupOutput({
  json,
  show,
  write,
  writeError,
  isTerminal,
  now = Date.now,
}: {
  json: boolean
  show: (result: never) => string
  write: Write
  writeError: Write
  isTerminal: boolean
  now?: () => number
}): CommandOutput {
  const counts = new Map<BackupTroubleKind, number>()
  let isComplete = true
  const writeLine = json ? () => {} : writeError
  const line = progressLine({ isTerminal, write: writeError, writeLine, everyMs: LINE_EVERY_MS, now })
  const { clear } = line
  return {
    report(item) {
      const { trouble, progress, listed } = item as Item
      // As JSON, the result has them.
      if (listed && !json) write(printable(listedLine(listed)))
      if (trouble) {
        clear()
        counts.set(trouble.kind, (counts.get(trouble.kind) ?? 0) + 1)
        write(
          json
            ? `${JSON.stringify({ trouble })}\n`
            : `${printable(troubleLine(trouble)).replaceAll('\n', ' ')}\n`,
        )
      }
      if (progress) line.show(progressText(progress))
    },
    result(value) {
      clear()
      const { isComplete: isWhole = true, notCopied = 0 } = value as Partial<MigrationReport>
      isComplete = isWhole && notCopied === 0
      if (json) write(`${JSON.stringify(value)}\n`)
      else {
        const meanings = [...counts].map(([kind, count]) => [String(count), kind, BACKUP_TROUBLES[kind]])
        write(`${meanings.length > 0 ? `\n${columns(meanings)}\n` : ''}${printable(show(value as never))}`)
      }
    },
    get findings() {
      return [...counts.values()].reduce((sum, count) => sum + count, isComplete ? 0 : 1)
    },
    clear,
  }
}

/** The text of each command's result. */
export const BACKUP_RESULTS: Readonly<Record<string, (result: never) => string>> = {
  backup: (report: BackupReport) =>
    `${columns([
      ['backup', report.backup],
      ['files', `${report.files}, ${shownBytes(report.bytes)}`],
      [
        '',
        `${report.new} new, ${report.unchanged} unchanged, ${report.deleted} deleted since the last backup`,
      ],
      ['records', `${report.records} new or changed`],
      ['copied', shownBytes(report.copiedBytes)],
      ...(report.verified === undefined ? [] : [['verified', counted(report.verified, 'object')]]),
      ...(report.expired
        ? [
            [
              'expired',
              `${counted(report.expired.backups, 'backup')}, ${counted(report.expired.objects, 'object')}`,
            ],
          ]
        : []),
    ])}APP_SECRET is not in the backup. Store it in another place: without it, signed URLs and the credentials of clients' own buckets are lost.
`,
  restore: ({ backup, files, restored, present, restoredBytes, notCopied }: RestoreReport) =>
    `${columns([
      ['backup', backup],
      ['files', `${files}: ${restored} restored, ${present} present already`],
      ['copied', shownBytes(restoredBytes)],
    ])}${
      notCopied > 0
        ? `This backup is incomplete: ${counted(notCopied, 'file or client', 'files or clients')} could not be copied into it.\n`
        : ''
    }Start the service with the former APP_SECRET. If it runs already, run sluice reindex.
`,
  migrate: ({ files, copied, copiedBytes, deleted, isComplete, settings = {} }: MigrationReport) =>
    columns([
      ['files', String(files)],
      ['copied', `${counted(copied, 'object')}, ${shownBytes(copiedBytes)}`],
      ['deleted', counted(deleted, 'object')],
    ]) +
    (isComplete
      ? `The target is complete. If the service still runs, stop it and run the command once more. Then start it with:\n\n${settingLines(settings)}`
      : 'The target is not complete: files could not be copied, or there are more changes than the command can follow. Stop the service, and run the command again.\n'),
  // Each one was reported when it was read.
  'restore --list': (backups: ListedBackup[]) => (backups.length === 0 ? 'no backups\n' : ''),
}

function listedLine({ backup, files, notCopied = 0, unreadable }: ListedBackup): string {
  const state = unreadable === undefined ? 'damaged' : `unreadable  (${unreadable.replaceAll('\n', ' ')})`
  const incomplete = notCopied > 0 ? `  ${notCopied} not copied` : ''
  return `${backup}  ${files === undefined ? state : counted(files, 'file')}${incomplete}\n`
}

function settingLines(settings: Readonly<Record<string, string>>): string {
  const lines = Object.entries(settings).map(([name, value]) =>
    value === '' ? `(without ${name})\n` : `${name}=${value}\n`,
  )
  const isFolder = settings.DATA_DIR !== undefined
  return `${lines.join('')}${isFolder ? '\nUnless APP_SECRET is set, copy the file app-secret into the new DATA_DIR first.\n' : ''}`
}

/** `[#####-----] 50 of about 100 files, 12.3 MB copied`, without the bar while the total is unknown. */
function progressText({ files, bytes, total, done }: BackupProgress): string {
  return `${progressBar(files, total)}${files}${total ? ` of about ${total}` : ''} files, ${shownBytes(bytes)} ${done}`
}

function troubleLine({ kind, clientId = '', key, detail }: BackupTrouble): string {
  return `${kind.padEnd(KIND_WIDTH)}  ${clientId.padEnd(11)}  ${key}${detail ? `  (${detail})` : ''}`
}

function shownBytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`
}
