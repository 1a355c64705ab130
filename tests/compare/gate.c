// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A network device that opens and closes when a test says so.
 *
 *	ip link add gate0 type gate
 *	echo 5 >/sys/class/net/gate0/pass	lets five more packets through
 *	echo -1 >/sys/class/net/gate0/pass	lets all through from now on
 *	echo 0 >/sys/class/net/gate0/pass	closes it; it starts closed
 *
 * While it is closed its transmit queue is stopped, as that of a busy network
 * card, so the qdisc above it is not even asked. What passes is freed, as by
 * `dummy`; packet sockets on the device see it pass. No existing virtual device can
 * be stopped like this from user space: they drop, or hand on at once.
 *
 * A kernel module of its own, and for the lab's guest only: built, with the peer
 * that it serves to compare with, by tests/lab/native.py.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/sysfs.h>
#include <net/rtnetlink.h>

#define PASS_ALL (-1)

struct gate {
	int pass; /* packets that may still go, or PASS_ALL; under the transmit lock */
};

static netdev_tx_t gate_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct gate *gate = netdev_priv(dev);

	if (gate->pass != PASS_ALL && !--gate->pass)
		netif_stop_queue(dev);
	dev_consume_skb_any(skb);
	return NETDEV_TX_OK;
}

static int gate_open(struct net_device *dev)
{
	struct gate *gate = netdev_priv(dev);

	if (gate->pass)
		netif_start_queue(dev);
	else
		netif_stop_queue(dev);
	return 0;
}

static int gate_stop(struct net_device *dev)
{
	netif_stop_queue(dev);
	return 0;
}

static ssize_t pass_show(struct device *device, struct device_attribute *attribute, char *text)
{
	struct gate *gate = netdev_priv(to_net_dev(device));

	return sysfs_emit(text, "%d\n", READ_ONCE(gate->pass));
}

static ssize_t pass_store(struct device *device, struct device_attribute *attribute,
			  const char *text, size_t len)
{
	struct net_device *dev = to_net_dev(device);
	struct gate *gate = netdev_priv(dev);
	int pass, error;

	error = kstrtoint(text, 10, &pass);
	if (error)
		return error;
	if (pass < PASS_ALL)
		return -ERANGE;

	netif_tx_lock_bh(dev);
	WRITE_ONCE(gate->pass, pass);
	if (!pass)
		netif_stop_queue(dev);
	else if (netif_running(dev))
		netif_wake_queue(dev);
	netif_tx_unlock_bh(dev); /* the woken queue runs from here */
	return len;
}

static DEVICE_ATTR_RW(pass);

static struct attribute *gate_attributes[] = {
	&dev_attr_pass.attr,
	NULL,
};

static const struct attribute_group gate_group = {
	.attrs = gate_attributes,
};

static const struct net_device_ops gate_ops = {
	.ndo_open = gate_open,
	.ndo_stop = gate_stop,
	.ndo_start_xmit = gate_xmit,
	.ndo_set_mac_address = eth_mac_addr,
};

static void gate_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &gate_ops;
	dev->sysfs_groups[0] = &gate_group;
	dev->needs_free_netdev = true;
	/* Nothing but the test's own packets. */
	dev->flags |= IFF_NOARP;
	dev->flags &= ~(IFF_MULTICAST | IFF_BROADCAST);
	eth_hw_addr_random(dev);
}

static struct rtnl_link_ops gate_link_ops = {
	.kind = "gate",
	.priv_size = sizeof(struct gate),
	.setup = gate_setup,
};

static int __init gate_init(void)
{
	return rtnl_link_register(&gate_link_ops);
}

static void __exit gate_exit(void)
{
	rtnl_link_unregister(&gate_link_ops);
}

module_init(gate_init);
module_exit(gate_exit);

MODULE_DESCRIPTION("A network device that passes as many packets as it is told to");
MODULE_LICENSE("Dual BSD/GPL");
