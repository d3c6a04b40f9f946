// A CSI driver for one node: each volume is a file with a file system of exactly its size, mounted through a loop device.
// So volumes of the test cluster fill up, and grow while they are in use, as disks of a cloud do. The file system is XFS:
// ext4 grows in use only for those who have CAP_SYS_RESOURCE, which machines of tests may lack.
// usage: storage FOLDER-OF-DISKS KUBELET-FOLDER NODE
package main

import (
	"context"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

const (
	driverName = "loop.capstan-cluster"
	// What mkfs.xfs makes a file system on.
	smallestBytes = 300 << 20
)

type driver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedControllerServer
	csi.UnimplementedNodeServer
	registration.UnimplementedRegistrationServer
	disks, node, endpoint string
	// one disk is copied at a time
	copying sync.Mutex
}

func main() {
	disks, kubelet, node := os.Args[1], os.Args[2], os.Args[3]
	endpoint := filepath.Join(kubelet, "plugins", driverName, "csi.sock")
	d := &driver{disks: disks, node: node, endpoint: endpoint}
	check(os.MkdirAll(disks, 0o700))
	serve(endpoint, func(server *grpc.Server) {
		csi.RegisterIdentityServer(server, d)
		csi.RegisterControllerServer(server, d)
		csi.RegisterNodeServer(server, d)
	})
	// The kubelet finds drivers by the sockets in this folder.
	serve(filepath.Join(kubelet, "plugins_registry", driverName+".sock"), func(server *grpc.Server) {
		registration.RegisterRegistrationServer(server, d)
	})
	select {}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func serve(socket string, register func(*grpc.Server)) {
	check(os.MkdirAll(filepath.Dir(socket), 0o750))
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		check(err)
	}
	listener, err := net.Listen("unix", socket)
	check(err)
	server := grpc.NewServer()
	register(server)
	go func() { check(server.Serve(listener)) }()
}

func run(program string, args ...string) (string, error) {
	output, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		return "", status.Errorf(codes.Internal, "%s %s: %v: %s", program, strings.Join(args, " "), err, output)
	}
	return strings.TrimSpace(string(output)), nil
}

// --- who we are

func (d *driver) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{Type: registration.CSIPlugin, Name: driverName, Endpoint: d.endpoint, SupportedVersions: []string{"1.0.0"}}, nil
}

func (d *driver) NotifyRegistrationStatus(_ context.Context, told *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	if !told.PluginRegistered {
		log.Printf("the kubelet does not take the driver: %s", told.Error)
	}
	return &registration.RegistrationStatusResponse{}, nil
}

func (d *driver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: driverName, VendorVersion: "1"}, nil
}

func (d *driver) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{
		{Type: &csi.PluginCapability_Service_{Service: &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_CONTROLLER_SERVICE}}},
		{Type: &csi.PluginCapability_VolumeExpansion_{VolumeExpansion: &csi.PluginCapability_VolumeExpansion{Type: csi.PluginCapability_VolumeExpansion_ONLINE}}},
	}}, nil
}

func (d *driver) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

// --- disks

func (d *driver) findDisk(id string) (string, error) {
	if id == "" || strings.ContainsAny(id, "/\x00") || strings.HasPrefix(id, ".") {
		return "", status.Errorf(codes.InvalidArgument, "not the id of a volume: %q", id)
	}
	return filepath.Join(d.disks, id+".xfs"), nil
}

// grow makes the disk at least so big and tells how big it is; a bigger one stays as it is.
func (d *driver) grow(id string, bytes int64) (int64, error) {
	path, err := d.findDisk(id)
	if err != nil {
		return 0, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return 0, status.Error(codes.Internal, err.Error())
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, status.Error(codes.Internal, err.Error())
	}
	if info.Size() >= bytes {
		return info.Size(), nil
	}
	if err := file.Truncate(bytes); err != nil {
		return 0, status.Error(codes.Internal, err.Error())
	}
	return bytes, nil
}

func (d *driver) CreateVolume(_ context.Context, request *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	if source := request.VolumeContentSource.GetSnapshot(); source != nil {
		if err := d.restore(request.Name, source.SnapshotId); err != nil {
			return nil, err
		}
	}
	bytes, err := d.grow(request.Name, max(request.CapacityRange.GetRequiredBytes(), smallestBytes))
	if err != nil {
		return nil, err
	}
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{
		VolumeId: request.Name, CapacityBytes: bytes, ContentSource: request.VolumeContentSource,
	}}, nil
}

func (d *driver) DeleteVolume(_ context.Context, request *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	path, err := d.findDisk(request.VolumeId)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.DeleteVolumeResponse{}, nil
}

func (d *driver) ValidateVolumeCapabilities(_ context.Context, request *csi.ValidateVolumeCapabilitiesRequest) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	confirmed := &csi.ValidateVolumeCapabilitiesResponse_Confirmed{VolumeCapabilities: request.VolumeCapabilities}
	return &csi.ValidateVolumeCapabilitiesResponse{Confirmed: confirmed}, nil
}

func (d *driver) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	response := &csi.ControllerGetCapabilitiesResponse{}
	for _, kind := range []csi.ControllerServiceCapability_RPC_Type{
		csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME, csi.ControllerServiceCapability_RPC_EXPAND_VOLUME,
		csi.ControllerServiceCapability_RPC_CREATE_DELETE_SNAPSHOT,
	} {
		response.Capabilities = append(response.Capabilities, &csi.ControllerServiceCapability{
			Type: &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{Type: kind}},
		})
	}
	return response, nil
}

func (d *driver) ControllerExpandVolume(_ context.Context, request *csi.ControllerExpandVolumeRequest) (*csi.ControllerExpandVolumeResponse, error) {
	bytes, err := d.grow(request.VolumeId, request.CapacityRange.GetRequiredBytes())
	if err != nil {
		return nil, err
	}
	return &csi.ControllerExpandVolumeResponse{CapacityBytes: bytes, NodeExpansionRequired: true}, nil
}
