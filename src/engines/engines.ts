import type { Engine, EngineName } from '../core/plugin-api/plugin.ts'
import { createAudioEngine } from './audio/audio.ts'
import { createSharpEngine } from './image/sharp.ts'
import { createOffice, type OfficeEngine, type Sandbox } from './office/office.ts'
import { createFfmpeg, type FfmpegEngine, type FfmpegOptions } from './video/ffmpeg.ts'

const DOCUMENT_MS = 60_000

/** Options of all engines. */
export interface EngineOptions extends FfmpegOptions {
  /** Time limit of the conversion of an Office document; 60 s by default. */
  documentTimeoutMs?: number
  /** Whether Office documents are also converted without a sandbox; `required` by default. */
  documentSandbox?: Sandbox
}

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
export function createEngines(options: EngineOptions, replacements: readonly Engine[] = []): OwnEngines {
  const ffmpeg = createFfmpeg(options)
  const office = createOffice({
    ...options,
    timeoutMs: options.documentTimeoutMs ?? DOCUMENT_MS,
    sandbox: options.documentSandbox ?? 'required',
  })
  const all: readonly Engine[] = [
    createSharpEngine(options),
    ffmpeg,
    createAudioEngine(options),
    office,
    ...replacements,
  ]
  return { engines: new Map(all.map((engine) => [engine.name, engine])), ffmpeg, office }
}
