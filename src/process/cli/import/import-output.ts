import type { ImportOutcome, ImportProgress, ImportReport } from '../../../core/imports/outcome.ts'
import { type CommandOutput, columns, printable } from '../output.ts'
import { progressBar, progressLine } from '../progress-line.ts'
import type { UrlMap } from './url-map.ts'

type Item = { file?: ImportOutcome; progress?: ImportProgress }
type Write = (text: string) => void

// Without a terminal, for example in a log.
const LINE_EVERY_MS = 10_000

/** Prints an import: refused files, the progress, and the report; with `json`, one line for each file. */
export function importOutput({
  json,
  map,
  write,
  writeError,
  isTerminal,
  now = Date.now,
}: {
  json: boolean
  map: UrlMap | undefined
  write: Write
  writeError: Write
  isTerminal: boolean
  now?: () => number
}): CommandOutput {
  let refused = 0
  const writeLine = json ? () => {} : write
  const line = progressLine({ isTerminal, write: writeError, writeLine, everyMs: LINE_EVERY_MS, now })
  const { clear } = line
  return {
    report(item) {
      const { file, progress } = item as Item
      if (file) {
        if (file.status === 'refused') {
          refused += 1
          clear()
          if (!json)
            write(printable(`refused  ${file.from}  (${file.reason})`).replaceAll('\n', ' ').concat('\n'))
        }
        if (json) write(`${JSON.stringify({ file })}\n`)
        map?.add(file)
      }
      if (progress) line.show(progressText(progress))
    },
    result(value) {
      clear()
      write(json ? `${JSON.stringify(value)}\n` : printable(reportText(value as ImportReport)))
    },
    get findings() {
      return refused
    },
    clear,
  }
}

/** `[#####-----] 50 of 100 files, 2 refused, 12.3 MB`, without the bar while the total is unknown. */
function progressText({ total, ...counts }: ImportProgress): string {
  const { imported, skipped, refused, accepted, bytes } = counts
  const done = imported + skipped + refused + accepted
  const files = `${done}${total === undefined ? '' : ` of ${total}`} files`
  return `${progressBar(done, total)}${files}${refused > 0 ? `, ${refused} refused` : ''}, ${(bytes / 1e6).toFixed(1)} MB`
}

function reportText({ reasons, isStopped, ...counts }: ImportReport): string {
  const rows = Object.entries(counts)
    // A dry run imports nothing, other runs accept nothing.
    .filter(([name, count]) => name !== 'accepted' || count > 0)
    .map(([name, count]) => [name, String(count)])
  const refusals = Object.entries(reasons).map(([reason, count]) => [
    `  ${count}`,
    reason.replaceAll('\n', ' '),
  ])
  return (
    columns(rows) +
    (refusals.length > 0 ? `reasons:\n${columns(refusals)}` : '') +
    (isStopped ? 'stopped before the end; run the same command again to continue\n' : '')
  )
}
