import { watermarkPlugin } from './watermark.mts'

/** The first watermark. */
export default watermarkPlugin('image-watermark', 'wm')
