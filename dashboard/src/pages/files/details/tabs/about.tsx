import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { FileInformation, FileWithDerivatives } from '../../../../../../client/index.ts'
import { useClient } from '../../../../api/session.ts'
import { Badge } from '../../../../ui/badge.tsx'
import { CopyField } from '../../../../ui/copy-button.tsx'
import { formatAgo, formatBytes, formatNumber, formatTime } from '../../../../ui/format.ts'
import { Notice } from '../../../../ui/states.tsx'
import { folderOf } from '../../list/items.ts'
import { infoQuery } from '../data/file.ts'
import { formatSeconds } from '../preview/time.ts'
import { DETAILS } from '../texts.ts'
import { Exif } from './exif.tsx'
import { type Row, Rows } from './rows.tsx'

/** What is known of a file: its record, and what its bytes say. */
export function About({ file }: { file: FileWithDerivatives }) {
  const chosen = useClient()
  const { data: info, error } = useQuery(infoQuery(chosen, file))
  // Many books have no cover. The preview says so.
  const problem = info?.problem?.code === 'no_cover' ? undefined : info?.problem
  const folder = folderOf(file.s3PathOriginal)
  const record: Row[] = [
    [DETAILS.type, file.mediaType],
    ...(file.scan ? [[DETAILS.scan, <Scan key="scan" {...file.scan} />] as const] : []),
    [
      DETAILS.size,
      <span key="size" title={formatNumber(file.size)}>
        {formatBytes(file.size)}
      </span>,
    ],
    // The size of the picture of a text says nothing about the text.
    ...(info && file.mimeType !== 'text' ? measures(info) : []),
    [
      DETAILS.uploaded,
      <time key="at" dateTime={file.uploadedAt} title={formatAgo(file.uploadedAt)}>
        {formatTime(file.uploadedAt)}
      </time>,
    ],
    [
      DETAILS.folder,
      <Link
        key="folder"
        to="/c/$clientId/files/$"
        params={{ clientId: chosen.client.id, _splat: folder }}
        className="text-accent-ink hover:underline"
      >
        {folder || DETAILS.topFolder}
      </Link>,
    ],
    ...(file.tags.length > 0
      ? [
          [
            DETAILS.tags,
            <span key="tags" className="flex flex-wrap gap-1">
              {file.tags.map((tag) => (
                <Badge key={tag}>{tag}</Badge>
              ))}
            </span>,
          ] as const,
        ]
      : []),
    ...Object.entries(file.metadata),
  ]
  return (
    <div className="flex flex-col gap-5">
      {info?.truncated && <Notice>{DETAILS.truncated}</Notice>}
      {(error || problem) && (
        <Notice>
          {DETAILS.noInfo}: {error?.message ?? problem?.detail}
        </Notice>
      )}
      <Rows rows={record} isLoading={!info && !error} />
      <div className="flex flex-col gap-2">
        <p className="font-medium text-sm">{DETAILS.key}</p>
        <CopyField value={file.s3PathOriginal} label={DETAILS.key} />
        <p className="mt-1 font-medium text-sm">{DETAILS.sha256}</p>
        <CopyField value={file.sha256} label={DETAILS.sha256} />
      </div>
      {info && <Exif info={info} />}
    </div>
  )
}

function measures(info: FileInformation): Row[] {
  const { width, height, pages, duration, bitrate, frameRate, channels, sampleRate } = info
  const codecs = [...new Set([info.container, info.videoCodec, info.audioCodec])].filter(Boolean).join(', ')
  const colours = [info.colorSpace && DETAILS.colourSpaceOf(info.colorSpace), info.hasAlpha && DETAILS.alpha]
    .filter(Boolean)
    .join(', ')
  const audio = [
    channels !== undefined && DETAILS.channels(channels),
    sampleRate && `${sampleRate / 1000} kHz`,
  ].filter(Boolean)
  const rows: Array<Row | false | undefined> = [
    width !== undefined && height !== undefined && [DETAILS.dimensions, DETAILS.pixels(width, height)],
    pages !== undefined && pages > 1 && [DETAILS.pages, formatNumber(pages)],
    duration !== undefined && [DETAILS.duration, formatSeconds(duration)],
    codecs !== '' && [DETAILS.codecs, codecs],
    bitrate !== undefined && [DETAILS.bitrate, `${formatNumber(Math.round(bitrate / 1000))} kbit/s`],
    frameRate !== undefined && [DETAILS.frameRate, `${Math.round(100 * frameRate) / 100} fps`],
    audio.length > 0 && [DETAILS.audio, audio.join(', ')],
    colours !== '' && [
      DETAILS.colours,
      <span key="colours" className="inline-flex items-center gap-2">
        {colours}
        {info.dominantColor && (
          <span
            aria-hidden="true"
            title={info.dominantColor}
            className="inline-block size-3.5 rounded-sm border border-line"
            style={{ background: info.dominantColor }}
          />
        )}
      </span>,
    ],
  ]
  return rows.filter((row): row is Row => !!row)
}

const SCAN_TONES = { waiting: 'warning', clean: 'success', infected: 'danger' } as const

function Scan({ state, signature }: NonNullable<FileWithDerivatives['scan']>) {
  return (
    <span className="flex flex-wrap items-center gap-1">
      <Badge tone={SCAN_TONES[state]}>{DETAILS.scans[state]}</Badge>
      {signature}
    </span>
  )
}
