// `sluice/plugin`: types for plugins outside of this repository. The imports add the types of each engine.
import './engines/audio/source.ts'
import './engines/ffmpeg/video-source.ts'
import './engines/image/source.ts'

export type { Box } from './core/geometry/box.ts'
export {
  type DetectContext,
  type DetectorPlugin,
  defineDetector,
} from './core/plugin-api/detector.ts'
export {
  defineEventPlugin,
  type EventContext,
  type EventPlugin,
} from './core/plugin-api/event-plugin.ts'
export type { ParameterSpec, ParameterSpecs, ParameterValues } from './core/plugin-api/parameter.ts'
export type { PlanRequest } from './core/plugin-api/plan-request.ts'
export {
  definePlugin,
  type TransformContext,
  type TransformPlugin,
} from './core/plugin-api/plugin.ts'
export {
  defineScanner,
  type FileToScan,
  type ScanContext,
  type ScannerPlugin,
  type Verdict,
} from './core/plugin-api/scanner.ts'
export { PLUGIN_API } from './core/plugin-api/version.ts'
