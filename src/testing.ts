// `sluice/testing`: runs plugins in tests, without a server.
export { type Rendered, type RenderOptions, render } from './assembly/render-once.ts'
