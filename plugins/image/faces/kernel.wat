;; The two inner loops of the face detector, with four numbers per instruction. Both are called once for each row of
;; pixels. A pixel is its channels, one after the other, as 32-bit floats. All strides are in bytes.
(module
  (import "sluice" "memory" (memory 1))

  ;; A 3 x 3 convolution of each channel with its own weights: [3 x 3][channels].
  (func (export "depth")
    (param $in i32)       ;; the pixel at the top left of the first output pixel
    (param $weights i32)
    (param $out i32)
    (param $end i32)      ;; where the output ends
    (param $pixel i32)    ;; from a pixel to the next one, in input and output
    (param $row i32)      ;; from an input row to the next one
    (param $step i32)     ;; from the input of an output pixel to that of the next one
    (local $channel i32) (local $tap i32) (local $weight i32) (local $rows i32) (local $sum v128)
    (loop $pixels
      (local.set $channel (i32.const 0))
      (loop $channels
        (local.set $tap (i32.add (local.get $in) (local.get $channel)))
        (local.set $weight (i32.add (local.get $weights) (local.get $channel)))
        (local.set $sum (v128.const f32x4 0 0 0 0))
        (local.set $rows (i32.const 3))
        (loop $taps
          (local.set $sum (f32x4.add (local.get $sum)
            (f32x4.mul (v128.load (local.get $tap)) (v128.load (local.get $weight)))))
          (local.set $tap (i32.add (local.get $tap) (local.get $pixel)))
          (local.set $weight (i32.add (local.get $weight) (local.get $pixel)))
          (local.set $sum (f32x4.add (local.get $sum)
            (f32x4.mul (v128.load (local.get $tap)) (v128.load (local.get $weight)))))
          (local.set $tap (i32.add (local.get $tap) (local.get $pixel)))
          (local.set $weight (i32.add (local.get $weight) (local.get $pixel)))
          (local.set $sum (f32x4.add (local.get $sum)
            (f32x4.mul (v128.load (local.get $tap)) (v128.load (local.get $weight)))))
          (local.set $tap (i32.sub (i32.add (local.get $tap) (local.get $row))
            (i32.shl (local.get $pixel) (i32.const 1))))
          (local.set $weight (i32.add (local.get $weight) (local.get $pixel)))
          (br_if $taps (local.tee $rows (i32.sub (local.get $rows) (i32.const 1)))))
        (v128.store (i32.add (local.get $out) (local.get $channel)) (local.get $sum))
        (local.set $channel (i32.add (local.get $channel) (i32.const 16)))
        (br_if $channels (i32.lt_u (local.get $channel) (local.get $pixel))))
      (local.set $in (i32.add (local.get $in) (local.get $step)))
      (local.set $out (i32.add (local.get $out) (local.get $pixel)))
      (br_if $pixels (i32.lt_u (local.get $out) (local.get $end)))))

  ;; Adds to each output pixel its input pixel times a matrix, [input channels][output channels], and the bias. 24 output
  ;; channels at once stay in registers; their number must be a multiple of 24.
  (func (export "point")
    (param $in i32)
    (param $weights i32)
    (param $bias i32)
    (param $out i32)
    (param $end i32)        ;; where the output ends
    (param $in_pixel i32)   ;; from an input pixel to the next one
    (param $out_pixel i32)  ;; from an output pixel to the next one
    (param $floor f32)      ;; the smallest result
    (local $channel i32) (local $to i32) (local $from i32) (local $weight i32) (local $next i32) (local $one v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $e v128) (local $f v128)
    (loop $pixels
      (local.set $channel (i32.const 0))
      (local.set $next (i32.add (local.get $in) (local.get $in_pixel)))
      (loop $channels
        (local.set $to (i32.add (local.get $out) (local.get $channel)))
        (local.set $from (i32.add (local.get $bias) (local.get $channel)))
        (local.set $a (f32x4.add (v128.load (local.get $to)) (v128.load (local.get $from))))
        (local.set $b (f32x4.add (v128.load offset=16 (local.get $to)) (v128.load offset=16 (local.get $from))))
        (local.set $c (f32x4.add (v128.load offset=32 (local.get $to)) (v128.load offset=32 (local.get $from))))
        (local.set $d (f32x4.add (v128.load offset=48 (local.get $to)) (v128.load offset=48 (local.get $from))))
        (local.set $e (f32x4.add (v128.load offset=64 (local.get $to)) (v128.load offset=64 (local.get $from))))
        (local.set $f (f32x4.add (v128.load offset=80 (local.get $to)) (v128.load offset=80 (local.get $from))))
        (local.set $weight (i32.add (local.get $weights) (local.get $channel)))
        (local.set $from (local.get $in))
        (loop $inputs
          (local.set $one (v128.load32_splat (local.get $from)))
          (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $one) (v128.load (local.get $weight)))))
          (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $one) (v128.load offset=16 (local.get $weight)))))
          (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $one) (v128.load offset=32 (local.get $weight)))))
          (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $one) (v128.load offset=48 (local.get $weight)))))
          (local.set $e (f32x4.add (local.get $e) (f32x4.mul (local.get $one) (v128.load offset=64 (local.get $weight)))))
          (local.set $f (f32x4.add (local.get $f) (f32x4.mul (local.get $one) (v128.load offset=80 (local.get $weight)))))
          (local.set $weight (i32.add (local.get $weight) (local.get $out_pixel)))
          (br_if $inputs (i32.lt_u (local.tee $from (i32.add (local.get $from) (i32.const 4))) (local.get $next))))
        (local.set $one (f32x4.splat (local.get $floor)))
        (v128.store (local.get $to) (f32x4.pmax (local.get $one) (local.get $a)))
        (v128.store offset=16 (local.get $to) (f32x4.pmax (local.get $one) (local.get $b)))
        (v128.store offset=32 (local.get $to) (f32x4.pmax (local.get $one) (local.get $c)))
        (v128.store offset=48 (local.get $to) (f32x4.pmax (local.get $one) (local.get $d)))
        (v128.store offset=64 (local.get $to) (f32x4.pmax (local.get $one) (local.get $e)))
        (v128.store offset=80 (local.get $to) (f32x4.pmax (local.get $one) (local.get $f)))
        (local.set $channel (i32.add (local.get $channel) (i32.const 96)))
        (br_if $channels (i32.lt_u (local.get $channel) (local.get $out_pixel))))
      (local.set $in (local.get $next))
      (local.set $out (i32.add (local.get $out) (local.get $out_pixel)))
      (br_if $pixels (i32.lt_u (local.get $out) (local.get $end)))))
)
