package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// A snapshot is a copy of the disk's file.

func (d *driver) findSnapshot(id string) (string, error) {
	if id == "" || strings.ContainsAny(id, "/\x00") || strings.HasPrefix(id, ".") {
		return "", status.Errorf(codes.InvalidArgument, "not the id of a snapshot: %q", id)
	}
	return filepath.Join(d.disks, id+".snapshot"), nil
}

// copyFile makes a sparse copy that appears under its name only when it is complete.
func copyFile(from, to string) error {
	if _, err := run("cp", "--sparse=always", from, to+".part"); err != nil {
		return err
	}
	if err := os.Rename(to+".part", to); err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	return nil
}

// findMount tells where the disk is mounted on this node; empty: nowhere.
func findMount(disk string) (string, error) {
	device, err := run("losetup", "--noheadings", "--output", "NAME", "--associated", disk)
	if err != nil || device == "" {
		return "", err
	}
	mount, err := run("findmnt", "--noheadings", "--first-only", "--output", "TARGET", "--source", device)
	if err != nil {
		// A loop device without a mount: the disk is being mounted or has just been unmounted.
		return "", status.Errorf(codes.Unavailable, "disk %s is changing hands", disk)
	}
	return mount, nil
}

func (d *driver) CreateSnapshot(_ context.Context, request *csi.CreateSnapshotRequest) (*csi.CreateSnapshotResponse, error) {
	disk, err := d.findDisk(request.SourceVolumeId)
	if err != nil {
		return nil, err
	}
	snapshot, err := d.findSnapshot(request.Name)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(snapshot); os.IsNotExist(err) {
		if err := d.copyDisk(disk, snapshot); err != nil {
			return nil, err
		}
	}
	info, err := os.Stat(snapshot)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.CreateSnapshotResponse{Snapshot: &csi.Snapshot{
		SnapshotId:     request.Name,
		SourceVolumeId: request.SourceVolumeId,
		SizeBytes:      info.Size(),
		CreationTime:   timestamppb.New(info.ModTime()),
		ReadyToUse:     true,
	}}, nil
}

// copyDisk holds writes back while it copies a disk that is in use, so that the copy has one moment of it.
func (d *driver) copyDisk(disk, snapshot string) error {
	d.copying.Lock()
	defer d.copying.Unlock()
	mount, err := findMount(disk)
	if err != nil {
		return err
	}
	if mount == "" {
		return copyFile(disk, snapshot)
	}
	if _, err := run("fsfreeze", "--freeze", mount); err != nil {
		return err
	}
	err = copyFile(disk, snapshot)
	if _, thaw := run("fsfreeze", "--unfreeze", mount); thaw != nil {
		return thaw
	}
	return err
}

func (d *driver) DeleteSnapshot(_ context.Context, request *csi.DeleteSnapshotRequest) (*csi.DeleteSnapshotResponse, error) {
	snapshot, err := d.findSnapshot(request.SnapshotId)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(snapshot); err != nil && !os.IsNotExist(err) {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.DeleteSnapshotResponse{}, nil
}

// restore makes the disk from a snapshot, unless it is there.
func (d *driver) restore(id, from string) error {
	disk, err := d.findDisk(id)
	if err != nil {
		return err
	}
	snapshot, err := d.findSnapshot(from)
	if err != nil {
		return err
	}
	if _, err := os.Stat(disk); err == nil {
		return nil
	}
	if _, err := os.Stat(snapshot); os.IsNotExist(err) {
		return status.Errorf(codes.NotFound, "there is no snapshot %s", from)
	}
	return copyFile(snapshot, disk)
}
