package phone

import (
	"encoding/binary"
	"fmt"
	"io"
)

// command is the first word of an adb packet: four ASCII letters read as a
// little-endian number (AOSP, packages/modules/adb/protocol.txt).
type command uint32

const (
	cmdConnect command = 0x4e584e43 // CNXN(version, maxdata, banner)
	cmdAuth    command = 0x48545541 // AUTH(type, 0, data)
	cmdOpen    command = 0x4e45504f // OPEN(local-id, 0, destination)
	cmdOkay    command = 0x59414b4f // OKAY(local-id, remote-id)
	cmdClose   command = 0x45534c43 // CLSE(local-id, remote-id)
	cmdWrite   command = 0x45545257 // WRTE(local-id, remote-id, data)
	cmdTLS     command = 0x534c5453 // STLS(version, 0), not spoken here
)

func (c command) String() string {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], uint32(c))
	return fmt.Sprintf("%q", b[:])
}

// Types of an AUTH packet.
const (
	authToken     = 1
	authSignature = 2
	authPublicKey = 3
)

const (
	packetHeaderSize = 24

	// protocolVersion is the first version that leaves checksums out of
	// every packet after CNXN.
	protocolVersion = 0x01000001

	// maxPayloadBytes is what the daemon announces and the most it accepts.
	maxPayloadBytes = 1 << 20

	// maxConnectBytes caps a packet that comes before CNXN was answered
	// (MAX_PAYLOAD_V1: all that a peer of unknown version may send).
	maxConnectBytes = 4096
)

// packet is one message of the transport.
type packet struct {
	command    command
	arg0, arg1 uint32
	data       []byte
}

// readPacket reads one packet. A payload above limit bytes, a wrong magic or,
// if verify is set, a wrong checksum is an error: the stream has lost its
// framing and the transport must be closed. A clean end between packets is
// io.EOF.
func readPacket(r io.Reader, limit uint32, verify bool) (packet, error) {
	var header [packetHeaderSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		if err == io.ErrUnexpectedEOF {
			return packet{}, fmt.Errorf("packet header cut short: %w", err)
		}
		return packet{}, err
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(header[4*i:]) }
	p := packet{command: command(word(0)), arg0: word(1), arg1: word(2)}
	length, sum, magic := word(3), word(4), word(5)
	if magic != ^uint32(p.command) {
		return packet{}, fmt.Errorf("packet %v: magic %#x, want %#x", p.command, magic, ^uint32(p.command))
	}
	if length > limit {
		return packet{}, fmt.Errorf("packet %v: payload of %d bytes, at most %d are allowed", p.command, length, limit)
	}
	p.data = make([]byte, length)
	if _, err := io.ReadFull(r, p.data); err != nil {
		return packet{}, fmt.Errorf("packet %v: payload cut short: %w", p.command, err)
	}
	if verify && sum != checksum(p.data) {
		return packet{}, fmt.Errorf("packet %v: checksum %#x, want %#x", p.command, sum, checksum(p.data))
	}
	return p, nil
}

// appendHeader appends the header of p to dst; the payload follows it on the
// wire.
func appendHeader(dst []byte, p packet, withSum bool) []byte {
	var sum uint32
	if withSum {
		sum = checksum(p.data)
	}
	for _, w := range [...]uint32{
		uint32(p.command), p.arg0, p.arg1, uint32(len(p.data)), sum, ^uint32(p.command),
	} {
		dst = binary.LittleEndian.AppendUint32(dst, w)
	}
	return dst
}

// checksum is the sum of the payload's bytes, which adb calls a crc32.
func checksum(data []byte) (sum uint32) {
	for _, b := range data {
		sum += uint32(b)
	}
	return sum
}
