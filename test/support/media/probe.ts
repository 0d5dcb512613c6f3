import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** The result of ffprobe for a file without any hints. */
export interface Probed {
  /** The names of its demuxer. */
  demuxers: string[]
  /** `video` when it has moving pictures, else `audio`. */
  group: 'video' | 'audio'
}

// Pictures, and texts that are shown as if they were movies.
const NO_MEDIA = /_pipe$|^(?:image2|gif|apng|tty|webp_anim)$/

/** @returns undefined for a file without video and audio */
export async function probed(path: string): Promise<Probed | undefined> {
  const args = ['-v', 'error', '-of', 'json', '-show_format', '-show_streams', path]
  const found = await promisify(execFile)('ffprobe', args).catch(() => undefined)
  if (!found) return undefined
  const { format, streams = [] } = JSON.parse(found.stdout) as {
    format?: { format_name: string }
    streams?: Array<{ codec_type?: string; disposition?: { attached_pic?: number } }>
  }
  const demuxers = format?.format_name.split(',') ?? []
  if (streams.length === 0 || demuxers.some((name) => NO_MEDIA.test(name))) return undefined
  const moves = streams.some(
    ({ codec_type, disposition }) => codec_type === 'video' && !disposition?.attached_pic,
  )
  return { demuxers, group: moves ? 'video' : 'audio' }
}
