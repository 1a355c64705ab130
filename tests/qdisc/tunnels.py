# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tunnels between two hosts, for the tests. `ends`: their namespaces; `outer`: their addresses."""

from pyroute2 import WireGuard

PORT = 51820
KEYS = ("oK0nHvDyKZcKmK4dCz3yhlUWxLjyZbDV1xV4VZpnMGM=",
        "2DVGJKSzjD4LZ0Aw6mVtgkbJ0cVfqpIzWZVvrpCPzmg=")
KEY = f"0x{'5a' * 20}"


def wireguard(ends, outer, name, net):
    """Devices `name`, for all that goes to `net`."""
    public = []
    for space, key in zip(ends, KEYS, strict=True):
        space.ip(f"link add {name} type wireguard")
        with space.entered(), WireGuard() as device:
            device.set(name, private_key=key, listen_port=PORT)
            public.append(device.info(name)[0].get_attr("WGDEVICE_A_PUBLIC_KEY"))
    for space, key, address in zip(ends, reversed(public), reversed(outer), strict=True):
        with space.entered(), WireGuard() as device:
            device.set(name, peer={"public_key": key, "endpoint_addr": address,
                                   "endpoint_port": PORT, "allowed_ips": [net]})


def state(space, source, target, spi, *words):
    space.run("ip", "xfrm", "state", "add", "src", source, "dst", target, "proto", "esp", "spi",
              spi, "aead", "rfc4106(gcm(aes))", KEY, 128, *words)


def policy(space, way, source, target, outer, mode, *words):
    space.run("ip", "xfrm", "policy", "add", "dir", way, "src", source, "dst", target, *words,
              "tmpl", "src", outer[0], "dst", outer[1], "proto", "esp", "mode", mode)


def ipsec(ends, outer, mode, *words, inner, ways=("in",)):
    """ESP, both ways. `inner`: the nets behind each of them."""
    for index, space in enumerate(ends):
        here, there = outer[index], outer[1 - index]
        mine, others = inner[index], inner[1 - index]
        state(space, here, there, 1 + index, "mode", mode, *words)
        state(space, there, here, 2 - index, "mode", mode, *words)
        policy(space, "out", mine, others, (here, there), mode, *words)
        for way in ways:
            policy(space, way, others, mine, (there, here), mode, *words)
