package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func (d *driver) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: d.node}, nil
}

func (d *driver) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	response := &csi.NodeGetCapabilitiesResponse{}
	for _, kind := range []csi.NodeServiceCapability_RPC_Type{
		csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME,
		csi.NodeServiceCapability_RPC_EXPAND_VOLUME,
		csi.NodeServiceCapability_RPC_GET_VOLUME_STATS,
	} {
		response.Capabilities = append(response.Capabilities, &csi.NodeServiceCapability{
			Type: &csi.NodeServiceCapability_Rpc{Rpc: &csi.NodeServiceCapability_RPC{Type: kind}},
		})
	}
	return response, nil
}

func isMounted(path string) bool {
	_, err := run("mountpoint", "-q", path)
	return err == nil
}

// NodeStageVolume mounts the disk once for all pods of the node.
func (d *driver) NodeStageVolume(_ context.Context, request *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
	disk, err := d.findDisk(request.VolumeId)
	if err != nil {
		return nil, err
	}
	if isMounted(request.StagingTargetPath) {
		return &csi.NodeStageVolumeResponse{}, nil
	}
	_, err = run("blkid", disk)
	isNew := err != nil
	if isNew {
		if _, err := run("mkfs.xfs", "-q", disk); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(request.StagingTargetPath, 0o750); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	// A restored disk has the identity of the one that it was copied from, which may be mounted too.
	if _, err := run("mount", "-t", "xfs", "-o", "loop,noatime,nouuid", disk, request.StagingTargetPath); err != nil {
		return nil, err
	}
	// It may be larger than its snapshot.
	if _, err := run("xfs_growfs", "-d", request.StagingTargetPath); err != nil {
		return nil, err
	}
	// What disks of clouds hold from the beginning, most of which are ext4.
	if isNew {
		if err := os.MkdirAll(filepath.Join(request.StagingTargetPath, "lost+found"), 0o700); err != nil {
			return nil, status.Error(codes.Internal, err.Error())
		}
	}
	return &csi.NodeStageVolumeResponse{}, nil
}

func (d *driver) NodeUnstageVolume(_ context.Context, request *csi.NodeUnstageVolumeRequest) (*csi.NodeUnstageVolumeResponse, error) {
	return &csi.NodeUnstageVolumeResponse{}, unmount(request.StagingTargetPath)
}

func (d *driver) NodePublishVolume(_ context.Context, request *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	if isMounted(request.TargetPath) {
		return &csi.NodePublishVolumeResponse{}, nil
	}
	if err := os.MkdirAll(request.TargetPath, 0o750); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	options := "bind"
	if request.Readonly {
		options = "bind,ro"
	}
	_, err := run("mount", "-o", options, request.StagingTargetPath, request.TargetPath)
	return &csi.NodePublishVolumeResponse{}, err
}

func (d *driver) NodeUnpublishVolume(_ context.Context, request *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	return &csi.NodeUnpublishVolumeResponse{}, unmount(request.TargetPath)
}

func unmount(path string) error {
	if isMounted(path) {
		if _, err := run("umount", path); err != nil {
			return err
		}
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return status.Error(codes.Internal, err.Error())
	}
	return nil
}

// NodeExpandVolume lets the kernel and the mounted file system see that the disk has grown.
func (d *driver) NodeExpandVolume(_ context.Context, request *csi.NodeExpandVolumeRequest) (*csi.NodeExpandVolumeResponse, error) {
	path := request.StagingTargetPath
	if path == "" {
		path = request.VolumePath
	}
	device, err := run("findmnt", "--noheadings", "--first-only", "--output", "SOURCE", path)
	if err != nil {
		return nil, err
	}
	if _, err := run("losetup", "--set-capacity", device); err != nil {
		return nil, err
	}
	if _, err := run("xfs_growfs", path); err != nil {
		return nil, err
	}
	return &csi.NodeExpandVolumeResponse{CapacityBytes: request.CapacityRange.GetRequiredBytes()}, nil
}

func (d *driver) NodeGetVolumeStats(_ context.Context, request *csi.NodeGetVolumeStatsRequest) (*csi.NodeGetVolumeStatsResponse, error) {
	var stats unix.Statfs_t
	if err := unix.Statfs(request.VolumePath, &stats); err != nil {
		return nil, status.Error(codes.NotFound, err.Error())
	}
	size := int64(stats.Bsize)
	return &csi.NodeGetVolumeStatsResponse{Usage: []*csi.VolumeUsage{{
		Unit:      csi.VolumeUsage_BYTES,
		Total:     int64(stats.Blocks) * size,
		Available: int64(stats.Bavail) * size,
		Used:      int64(stats.Blocks-stats.Bfree) * size,
	}}}, nil
}
