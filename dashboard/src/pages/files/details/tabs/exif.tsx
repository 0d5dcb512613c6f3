import type { FileInformation } from '../../../../../../client/index.ts'
import { CopyButton } from '../../../../ui/copy-button.tsx'
import { DETAILS } from '../texts.ts'
import { Rows } from './rows.tsx'

/** What the camera has written into a photo. */
export function Exif({ info: { exif = {}, location } }: { info: FileInformation }) {
  const entries = Object.entries(exif)
  if (entries.length === 0 && !location) return null
  const position = location && `${location.latitude}, ${location.longitude}`
  return (
    <section aria-label={DETAILS.camera} className="border-line border-t pt-4">
      <h3 className="mb-3 font-semibold">{DETAILS.camera}</h3>
      <Rows
        rows={[
          ...entries.map(([name, value]) => [wordsOf(name), textOf(name, value)] as const),
          ...(position
            ? [
                [
                  DETAILS.location,
                  <span key="position" className="inline-flex items-center gap-1">
                    {position}
                    <CopyButton text={position} size="small" />
                  </span>,
                ] as const,
              ]
            : []),
        ]}
      />
    </section>
  )
}

/** `DateTimeOriginal` → `Date time original`. */
function wordsOf(name: string): string {
  const words = name.replace(/([a-z\d])([A-Z])/g, (_, end, begin) => `${end} ${begin.toLowerCase()}`)
  return words.replace(/^Fnumber$/i, 'Aperture').replace(/^Isospeed ratings$/i, 'ISO')
}

function textOf(name: string, value: string | number | number[]): string {
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'string') return value
  if (name === 'FNumber') return `f/${short(value)}`
  if (name === 'FocalLength' || name === 'FocalLengthIn35mmFilm') return `${short(value)} mm`
  if (name === 'ExposureTime')
    return value > 0 && value < 0.5 ? `1/${Math.round(1 / value)} s` : `${short(value)} s`
  return String(short(value))
}

const short = (value: number) => Math.round(value * 100) / 100
