package guard

import (
	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// packed compresses what ctx answers, if the client takes that and it is worth it.
var packed = fasthttp.CompressHandlerBrotliLevel(func(*fasthttp.RequestCtx) {}, fasthttp.CompressBrotliBestSpeed, fasthttp.CompressBestSpeed)

// Pack compresses answers, but for streams: what is packed arrives late.
func Pack(c *fiber.Ctx) error {
	if err := c.Next(); err != nil {
		return err
	}
	if !c.Response().IsBodyStream() {
		packed(c.Context())
	}
	return nil
}
