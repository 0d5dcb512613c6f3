import { watermarkPlugin } from './watermark.mts'

/** The third watermark, over the ones before it. */
export default watermarkPlugin('image-watermark-3', 'wm3')
