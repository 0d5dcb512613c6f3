import { CircleAlert, CircleCheck, Maximize2, Minus, X } from 'lucide-react'
import { timeText } from '../../../../../client/uploader/element/format.ts'
import { UPLOAD } from '../../../texts/upload.ts'
import { IconButton } from '../../../ui/button.tsx'
import { formatBytes } from '../../../ui/format.ts'
import { Progress } from '../../../ui/progress.tsx'
import { type Summary, titleOf, useSecondsLeft } from '../summary.ts'

/** The state of all uploads, which stays visible when the panel is minimized. */
export function PanelHeader({
  summary,
  isMinimized,
  setMinimized,
  onClose,
}: {
  summary: Summary
  isMinimized: boolean
  setMinimized: (isMinimized: boolean) => void
  onClose: () => void
}) {
  const { total, running, failed, done, paused, sentBytes, totalBytes } = summary
  const secondsLeft = useSecondsLeft(summary)
  const isProgressShown = running > 0 || paused > 0
  return (
    <header className="flex flex-col gap-2 py-2.5 pr-2 pl-4">
      <div className="flex items-center gap-2">
        {total > 0 && running === 0 && failed > 0 && (
          <CircleAlert aria-hidden="true" className="size-4 shrink-0 text-danger-ink" />
        )}
        {total > 0 && done === total && (
          <CircleCheck aria-hidden="true" className="size-4 shrink-0 text-success-ink" />
        )}
        <h2 className="min-w-0 flex-1 truncate font-semibold tabular-nums">{titleOf(summary)}</h2>
        {running > 0 && secondsLeft !== undefined && (
          <span className="shrink-0 text-muted text-xs tabular-nums">
            {UPLOAD.left(timeText(secondsLeft, UPLOAD))}
          </span>
        )}
        {total > 0 && (
          <IconButton
            size="small"
            label={isMinimized ? UPLOAD.expand : UPLOAD.minimize}
            aria-expanded={!isMinimized}
            onClick={() => setMinimized(!isMinimized)}
          >
            {isMinimized ? <Maximize2 aria-hidden="true" /> : <Minus aria-hidden="true" />}
          </IconButton>
        )}
        <IconButton size="small" label={UPLOAD.close} onClick={onClose}>
          <X aria-hidden="true" />
        </IconButton>
      </div>
      {isProgressShown && (
        <div className="flex items-center gap-3 pr-2">
          <Progress
            value={totalBytes === 0 ? undefined : sentBytes / totalBytes}
            label={UPLOAD.total}
            className="flex-1"
          />
          <span className="shrink-0 text-muted text-xs tabular-nums">
            {UPLOAD.ofBytes(formatBytes(sentBytes), formatBytes(totalBytes))}
          </span>
        </div>
      )}
    </header>
  )
}
