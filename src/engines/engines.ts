import type { Engine, EngineName } from '../core/plugin-api/plugin.ts'
import { createAudioEngine } from './audio/audio.ts'
import { createSharpEngine } from './image/sharp.ts'
import { createOffice, type OfficeEngine } from './office/office.ts'
import { createFfmpeg, type FfmpegEngine, type FfmpegOptions } from './video/ffmpeg.ts'

/** The engines of Sluice. */
export interface OwnEngines {
  /** By name, with the given replacements. */
  engines: ReadonlyMap<EngineName, Engine>
  ffmpeg: FfmpegEngine
  office: OfficeEngine
}

/**
 * Creates the engines of Sluice. They start no process yet.
 *
 * @param options.env the complete environment of all programs
 * @param replacements of engines, by their names
 */
export function createEngines(options: FfmpegOptions, replacements: readonly Engine[] = []): OwnEngines {
  const ffmpeg = createFfmpeg(options)
  const office = createOffice(options)
  const all: readonly Engine[] = [
    createSharpEngine(options),
    ffmpeg,
    createAudioEngine(options),
    office,
    ...replacements,
  ]
  return { engines: new Map(all.map((engine) => [engine.name, engine])), ffmpeg, office }
}
