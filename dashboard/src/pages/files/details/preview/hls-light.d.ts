// hls.js has no types for its light build, which lacks subtitles, DRM and alternative audio.
declare module 'hls.js/light' {
  export { default } from 'hls.js'
}
