import { watermarkPlugin } from './watermark.mts'

/** The second watermark, over the ones before it. */
export default watermarkPlugin('image-watermark-2', 'wm2')
